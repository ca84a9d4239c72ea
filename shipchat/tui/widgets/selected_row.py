"""How the selected row of a list looks, with tone and without it; which row that is, the lists know."""

from textual.content import Content


def selected_row(content: Content, *, plain: bool) -> Content:
    """Return a row on the selection's ground or, where tone is missing (`plain`), reversed in one colour.

    Reversed, every colour of the row would become a ground of its own; only what is bold stays so.
    """
    if not plain:
        return content.stylize_before("on $selection")
    row = Content(content.plain).stylize("$text reverse")
    for span in content.spans:
        if "bold" in str(span.style):
            row = row.stylize("bold", span.start, span.end)
    return row
