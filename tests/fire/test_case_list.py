"""Every case of our list of reported faults (lost, two at once, naming, size, environment, secrets) has its test."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

CASES: dict[int, str] = {
    # Sessions lost, damaged, half written
    1: "fire/test_mutations.py::test_the_program_lists_every_bad_file_with_path_and_reason",
    2: "fire/test_mutations.py::test_the_program_lists_every_bad_file_with_path_and_reason",
    4: "fire/test_reported_cases.py::test_a_damaged_draft_stops_nothing_and_is_set_aside",
    5: "formats/test_document.py::test_half_a_record_followed_by_the_whole_one",
    7: "formats/test_document.py::test_stale_bytes_after_the_end",
    8: "fire/test_reported_cases.py::test_temporary_names_are_unique_and_nothing_is_left",
    10: "formats/test_document.py::test_a_number_used_twice",
    11: "fire/test_mutations.py::test_a_file_deleted_behind_its_back_is_not_found_and_named",
    13: "fire/test_kills.py::test_forty_kills_during_real_use_lose_nothing",
    14: "cli/test_environment.py::test_a_full_disk_is_said_and_the_prompt_is_not_acknowledged",
    16: "stores/file/test_damaged_files.py::test_bom_crlf_and_blank_lines_load_and_can_be_added_to",
    17: "fire/test_reported_cases.py::test_ctrl_c_three_times_leaves_a_session_that_is_listed_and_goes_on",
    19: "fire/test_reported_cases.py::test_what_can_not_be_read_is_never_called_missing_or_made_anew",
    20: "fire/test_reported_cases.py::test_a_new_session_shows_nothing_of_one_that_was_deleted",
    # Two at once: holds and locks
    22: "test_promises.py::test_sixteen_at_once_one_wins_and_the_others_are_told_who",
    23: "test_promises.py::test_being_refused_takes_less_than_a_second",
    25: "fire/test_reported_cases.py::test_one_that_starts_while_another_leaves_is_held_or_clean",
    26: "fire/test_holds.py::test_of_2_to_16_racers_one_wins",
    28: "fire/test_holds.py::test_an_idle_window_holds_nothing",
    29: "fire/test_holds.py::test_a_killed_holders_session_is_free_at_once",
    31: "fire/test_reported_cases.py::test_a_file_system_without_locks_is_said_and_not_guessed",
    32: "tui/test_chat_screen_sessions.py::test_a_reply_elsewhere_is_watched_and_what_is_typed_waits_for_it",
    34: "stores/file/test_session_files.py::test_a_symbolic_link_to_the_directory_meets_in_one_lock",
    35: "fire/test_reported_cases.py::test_a_rename_that_a_scanner_refuses_is_tried_again_for_a_while",
    # Picking, naming, forking, listing
    37: "fire/test_reported_cases.py::test_the_newest_is_what_was_just_sent",
    38: "cli/test_sessions.py::test_the_beginning_of_a_key_works_everywhere_and_is_never_guessed",
    40: "cli/test_sessions.py::test_newest_is_one_thing_for_every_command",
    41: "fire/test_reported_cases.py::test_times_are_compared_as_instants",
    43: "cli/test_sessions.py::test_forks_of_forks_are_full_copies_with_names_of_their_own",
    44: "sessions/test_session_manager.py::test_the_parents_bytes_stay_the_same_and_a_fork_goes_its_own_way",
    46: "fire/test_reported_cases.py::test_ten_times_interrupted_and_resumed_each_message_is_there_once",
    47: "fire/test_reported_cases.py::test_fifty_turns_are_there_before_one_types",
    49: "cli/test_sessions.py::test_any_title_works_in_every_command",
    50: "fire/test_mutations.py::test_what_was_copied_by_hand_is_a_session_like_any_other",
    52: "cli/test_environment.py::test_sessions_left_behind_are_noted_by_list",
    53: "fire/test_reported_cases.py::test_paths_and_settings_in_a_session_file_are_kept_and_never_used",
    # Size and speed
    70: "stores/file/test_damaged_files.py::test_a_list_with_large_files_needs_little_memory",
    71: "stores/file/test_damaged_files.py::test_what_is_no_session_file_is_refused_early",
    73: "fire/test_reported_cases.py::test_ten_large_pictures_leave_the_session_small",
    74: "tui/widgets/test_composer.py::test_a_paste_of_a_megabyte_does_not_freeze",
    # Encodings, pipes, exit codes, environment
    100: "cli/test_environment.py::test_a_narrow_encoding_shows_replacements_and_no_traceback",
    101: "cli/test_environment.py::test_every_printing_command_works_in_ascii",
    103: "cli/test_send.py::test_a_silent_open_pipe_is_left_unread",
    104: "cli/test_send.py::test_a_failing_model_has_an_exit_code_and_a_line",
    106: "cli/test_environment.py::test_a_read_only_place_is_said_at_once",
    107: "cli/test_environment.py::test_without_a_home_nothing_is_made_where_one_stands",
    109: "providers/test_remote.py::test_an_authority_of_ones_own",
    110: "providers/test_remote.py::test_an_authority_of_ones_own",
    # Secrets and exposure
    115: "fire/test_hostile_names.py::test_under_umask_0_everything_is_the_users_alone",
    116: "fire/test_reported_cases.py::test_a_key_is_in_no_file_and_no_output_of_a_run_that_fails",
    118: "cli/test_sessions.py::test_titles_reach_no_shell_and_no_file_name",
}


@pytest.mark.parametrize("number", CASES)
def test_every_case_has_a_test(number: int) -> None:
    file, _, name = CASES[number].partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert name in there
