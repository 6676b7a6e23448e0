"""Shell words: a command line taken apart as a shell would, with all that it starts on the way. What is not understood is named,
never guessed: a reader of this treats it as unknown."""

import re
from dataclasses import dataclass, field

__all__ = ["Fragment", "Line", "Redirect", "Word", "taken_apart"]

_DEEPEST = 12  # commands inside of commands
_BLANK = " \t"
_ENDS = ";&|\n"
_PATTERN = "*?[]{}~"
_SIGNS = frozenset({"{", "}", "{}", "[", "]", "[["})  # words of their own, not patterns
_ASSIGNED = re.compile(r"\A([A-Za-z_][A-Za-z0-9_]*)=")


@dataclass(frozen=True, slots=True)
class Word:
    """One word without its quotes. `plain` when its text is what the program gets; `replaced` when a variable or the output of a
    command stands in it; `assigns` the variable that it sets when it comes before a command."""

    text: str
    plain: bool = True
    quoted: bool = False
    replaced: bool = False
    assigns: str = ""

    @property
    def open(self) -> bool:
        """Whether it can turn out to be an option: nobody knows how it begins."""
        return self.replaced or (not self.plain and self.text[:1] in ("", *_PATTERN))


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where a stream goes to or comes from."""

    sign: str
    target: Word


@dataclass(slots=True)
class Fragment:
    """One simple command."""

    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    piped: bool = False  # it reads what the one before it prints


@dataclass(slots=True)
class Line:
    """All commands that a line starts, also those inside of words; and what could not be read."""

    fragments: list[Fragment] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)


def taken_apart(command: str) -> Line:
    """Every command of a line, in the order in which they are met."""
    line = Line()
    if any(char < " " and char not in "\t\n" for char in command) or "\x7f" in command:
        line.odd.append("it has characters that cannot be seen")
        return line
    reader = _Reader(command, line)
    end = reader.commands(0, until="", depth=0)
    if end < len(command):
        line.odd.append("its brackets do not match")
    return line


class _Reader:
    """Reads by the grammar of the shell, as far as it must be known to see where words and commands end."""

    def __init__(self, text: str, line: Line) -> None:
        self._text = text
        self._line = line

    def commands(self, at: int, *, until: str, depth: int) -> int:
        """Commands up to a closing sign, which is left unread."""
        text, line = self._text, self._line
        if depth > _DEEPEST:
            line.odd.append("it is nested too deeply to be read")
            return len(text)
        now = Fragment()

        def done(*, pipe: bool = False) -> None:
            nonlocal now
            if now.words or now.redirects:
                line.fragments.append(now)
            now = Fragment(piped=pipe)

        while at < len(text):
            char = text[at]
            if until and char == until:
                break
            if text.startswith("\\\n", at):
                at += 2
            elif char in _BLANK:
                at += 1
            elif char == "#":
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
            elif text.startswith("&>", at) or char in "<>":
                at = self._redirect(at, now, depth)
            elif char in _ENDS:
                pipe = char == "|" and not text.startswith("||", at)
                at += 2 if text.startswith(("&&", "||", ";;", "|&"), at) else 1
                done(pipe=pipe)
            elif char == "(":
                if now.words:
                    line.odd.append("it defines a function")
                done()
                at = self.commands(at + 1, until=")", depth=depth + 1)
                if at >= len(text):
                    line.odd.append("its brackets do not match")
                at += 1
            elif char == ")":
                break
            else:
                at = self._word(at, now, depth)
        done()
        return at

    def _redirect(self, at: int, now: Fragment, depth: int) -> int:
        text = self._text
        if now.words and now.words[-1].text.isdigit() and at and text[at - 1].isdigit():
            now.words.pop()  # the number of the stream
        if text.startswith(("<(", ">("), at):
            end = self.commands(at + 2, until=")", depth=depth + 1)
            now.words.append(Word("", plain=False, replaced=True))
            return end + 1
        signs = ("<<<", "<<-", "&>>", "<<", ">>", ">|", ">&", "<&", "<>", "&>", ">", "<")
        sign = next(one for one in signs if text.startswith(one, at))
        if sign.startswith("<<"):
            self._line.odd.append("it has a text of its own in it")
        at += len(sign)
        while at < len(text) and text[at] in _BLANK:
            at += 1
        held = Fragment()
        end = self._word(at, held, depth) if at < len(text) and text[at] not in _ENDS + "()<>" else at
        if not held.words:
            self._line.odd.append("a redirection leads nowhere")
        else:
            now.redirects.append(Redirect(sign, held.words[0]))
        return end

    def _word(self, at: int, now: Fragment, depth: int) -> int:
        text, start, made = self._text, at, list[str]()
        plain, quoted, replaced, bare = True, False, False, -1
        while at < len(text) and text[at] not in _BLANK + _ENDS + "()<>":
            char = text[at]
            if char in "\\'\"$`" and bare < 0:
                bare = len("".join(made))
            if char == "\\":
                if text[at + 1 : at + 2] != "\n":
                    made.append(text[at + 1 : at + 2])
                    quoted = True
                at += 2
            elif char == "'":
                end = text.find("'", at + 1)
                if end < 0:
                    self._line.odd.append("a quote is not closed")
                    end = len(text)
                made.append(text[at + 1 : end])
                quoted, at = True, end + 1
            elif char == '"':
                quoted = True
                at, inner, fixed = self._double(at + 1, depth)
                made.append(inner)
                replaced = replaced or not fixed
            elif char in "$`":
                if text.startswith("$'", at):
                    self._line.odd.append("it has a word that shells read differently")
                replaced = True
                at = self._replaced(at, depth)
            else:
                plain = plain and char not in _PATTERN
                made.append(char)
                at += 1
        whole = "".join(made)
        assigned = _ASSIGNED.match(whole)
        set_ = assigned[1] if assigned and (bare < 0 or assigned.end() <= bare) else ""
        plain = (plain or text[start:at] in _SIGNS) and not replaced
        now.words.append(Word(whole, plain, quoted, replaced, set_))
        return at

    def _double(self, at: int, depth: int) -> tuple[int, str, bool]:
        """The inside of double quotes: where it ends, its text, and whether nothing in it is replaced."""
        text, made, fixed = self._text, list[str](), True
        while at < len(text):
            char = text[at]
            if char == '"':
                return at + 1, "".join(made), fixed
            if char == "\\" and text[at + 1 : at + 2] in ('"', "\\", "$", "`", "\n"):
                made.append("" if text[at + 1] == "\n" else text[at + 1])
                at += 2
            elif char in "$`":
                fixed = False
                at = self._replaced(at, depth)
            else:
                made.append(char)
                at += 1
        self._line.odd.append("a quote is not closed")
        return at, "".join(made), False

    def _replaced(self, at: int, depth: int) -> int:
        """Past a `$…` or a backtick; commands inside of it are commands of the line."""
        text = self._text
        if text[at] == "`":
            end = at + 1
            while end < len(text) and text[end] != "`":
                end += 2 if text[end] == "\\" else 1
            if end >= len(text):
                self._line.odd.append("a quote is not closed")
            inner = text[at + 1 : end]
            if "\\" in inner:
                self._line.odd.append("it has a word that shells read differently")
            nested = _Reader(inner, self._line)
            if nested.commands(0, until="", depth=depth + 1) < len(inner):
                self._line.odd.append("its brackets do not match")
            return end + 1
        if text.startswith("$(", at):
            end = self.commands(at + 2, until=")", depth=depth + 1)
            if end >= len(text):
                self._line.odd.append("its brackets do not match")
            return end + 1
        if text.startswith("${", at):
            return self._braces(at + 2, depth)
        end = at + 1
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        return max(end, at + 1)

    def _braces(self, at: int, depth: int) -> int:
        """A `${name}`. One that does more than name a variable can assign, cut and run: it is not followed further."""
        text = self._text
        end = text.find("}", at)
        name = text[at:end] if end >= 0 else ""
        if end < 0 or not name.replace("_", "a").isalnum():
            self._line.odd.append("it has a replacement that does more than name a variable")
        return len(text) if end < 0 else end + 1
