"""The Python API: agents, sessions to talk in, and sessions as wholes, for any program."""

from shipchat.sdk.agent import Agent, model_from_env
from shipchat.sdk.chat import ChatSession
from shipchat.sdk.functions import (
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    list_sessions,
    rename_session,
    tag_session,
)
from shipchat.sdk.info import SessionInfo
from shipchat.sdk.manager import SessionManager
from shipchat.sdk.options import AgentOptions
from shipchat.sdk.packets import Packet
from shipchat.sdk.python_tools import tool
from shipchat.sdk.querying import query
from shipchat.sdk.result import ReplyFailed, TurnResult

__all__ = [
    "Agent",
    "AgentOptions",
    "ChatSession",
    "Packet",
    "ReplyFailed",
    "SessionInfo",
    "SessionManager",
    "TurnResult",
    "delete_session",
    "fork_session",
    "get_session_info",
    "get_session_messages",
    "list_sessions",
    "model_from_env",
    "query",
    "rename_session",
    "tag_session",
    "tool",
]
