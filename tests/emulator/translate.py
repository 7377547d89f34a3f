#!/usr/bin/env python3
"""Translates the kernels to C++ that the emulator's headers make compile.

    translate.py SOURCE TARGET [LABEL]   all *.cu, *.cuh and *.h of a folder; X.cu becomes X.cpp
    translate.py --self-test             shows on pieces of code what becomes of them, and that the rest is an error

Lines keep their numbers, and #line directives name the original as LABEL/file, so that messages are about it. What is
translated: launches, variables in shared memory, inline PTX. All else is C++ with the names that include/ defines. An
identifier with two underscores that is neither defined there nor the compiler's is an error here, as is PTX that is not
in the tables below.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
BRACKETS = {"(": ")", "[": "]", "{": "}"}

# What a compiler, the C library or CUDA's language has, beside what the emulator's headers define.
COMPILER = {"__restrict__", "__restrict", "__inline__", "__FILE__", "__LINE__", "__func__", "__cplusplus", "__attribute__", "__VA_ARGS__", "__asm__",
            "__shared__", "__volatile__", "__CUDA_ARCH__", "__builtin_expect", "__builtin_unreachable", "__PRETTY_FUNCTION__"}
REFUSED = {
    "__activemask": "its value is up to the hardware: name the lanes by a mask",
    "__constant__": "constant memory is not emulated",
    "__managed__": "managed memory is not emulated",
    "__grid_constant__": "it is not emulated",
    # no barrier of a grid can be emulated with few blocks resident
    "cooperative_groups": "grid-wide barriers are not emulated, and clusters by PTX",
    "__cluster_dims__": "clusters are emulated where cudaLaunchKernelEx() asks for them",
}


class Unknown(Exception):
    def __init__(self, position, what):
        super().__init__(what)
        self.position = position


def known_identifiers():
    names = set(COMPILER)
    for path in (HERE / "include").rglob("*"):
        if path.is_file():
            names |= set(re.findall(r"\b__\w+", path.read_text(encoding="utf-8")))
            # those that macros put together
            names |= set(re.findall(r"EMULATOR_(?:SHUFFLE|REDUCE)\((\w+)", path.read_text(encoding="utf-8")))
    return names


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def matching(code, position):
    """The place of the bracket that closes the one at position."""
    stack = []
    for k in range(position, len(code)):
        if code[k] in BRACKETS:
            stack.append(BRACKETS[code[k]])
        elif stack and code[k] == stack[-1]:
            stack.pop()
            if not stack:
                return k
        elif code[k] in ")]}":
            break
    raise Unknown(position, "unbalanced brackets")


def split(code, begin, end, separator):
    """The ranges between separators that are in no brackets."""
    ranges, start, k = [], begin, begin
    while k < end:
        if code[k] in BRACKETS:
            k = matching(code, k)
        elif code[k] == separator:
            ranges.append((start, k))
            start = k + 1
        k += 1
    return ranges + [(start, end)]


class Ptx:
    """One asm statement: PTX with %0, %1, ... to C++."""

    TYPES = {"f64": "double", "f32": "float", "s32": "int", "u32": "unsigned", "b32": "unsigned", "s64": "long long", "u64": "unsigned long long",
             "b64": "unsigned long long"}
    CONSTRAINTS = {"f64": "d", "f32": "f", "s32": "r", "u32": "r", "b32": "r", "s64": "l", "u64": "l", "b64": "l"}
    COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
    ARITHMETIC = {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "mov": "{0}", "and": "{0} & {1}", "or": "{0} | {1}", "fma": "fma({0}, {1}, {2})",
                  "min": "min({0}, {1})", "max": "max({0}, {1})", "rcp": "1 / {0}"}
    ATOMIC = {"add": "old + value", "min": "value < old ? value : old", "max": "value > old ? value : old", "and": "old & value", "or": "old | value",
              "xor": "old ^ value", "exch": "value", "cas": "old == value ? other : old"}
    ORDER = {"relaxed", "acquire", "release", "acq_rel", "volatile", "weak"}
    SCOPE = {"gpu", "cluster", "cta", "sys"}
    SPACE = {"global", "shared"}
    ROUNDING = {"rn", "lo", "ftz", "approx"}

    def __init__(self, text, operands):
        self.text = text
        self.operands = operands  # pairs of constraint and expression
        self.registers = {}

    def unknown(self, what):
        return Unknown(0, f"PTX that is not emulated: {what}")

    def operand(self, text, kind):
        text = text.strip()
        if text == "%%cluster_ctarank" and kind == "u32":
            return "::emulator::cluster_rank()"
        match = re.fullmatch(r"%(\d+)", text)
        if match:
            number = int(match.group(1))
            if number >= len(self.operands):
                raise self.unknown(f"there is no operand {text}")
            constraint, expression = self.operands[number]
            if kind and constraint != "n" and constraint.lstrip("=+&") != self.CONSTRAINTS[kind]:
                raise self.unknown(f'operand {text} with constraint "{constraint}" where .{kind} is')
            return f"({expression})"
        if text in self.registers or re.fullmatch(r"-?(?:\d+|0x[0-9a-fA-F]+)U?", text):
            return text
        match = re.fullmatch(r"0d([0-9a-fA-F]{16})", text)
        if match:
            return f"::emulator::bits<double>(0x{match.group(1)}ull)"
        raise self.unknown(f"operand {text}")

    def address(self, text, kind, space):
        match = re.fullmatch(r"\[\s*(%\d+)\s*(?:\+\s*(\d+))?\s*\]", text.strip())
        if not match:
            raise self.unknown(f"address {text}")
        constraint, expression = self.operands[int(match.group(1)[1:])]
        offset = f" + {match.group(2)}" if match.group(2) else ""
        if constraint not in ("l", "r") or (constraint == "r") != (space == "shared"):
            raise self.unknown(f'address {text} with constraint "{constraint}"')
        if space == "shared":
            return f"({self.TYPES[kind]} *)::emulator::shared_pointer(({expression}){offset})"
        return f"({self.TYPES[kind]} *)((char *)({expression}){offset})"

    def vector(self, text, kind, count):
        if count == 1:
            return [self.operand(text, kind)]
        match = re.fullmatch(r"\{(.*)\}", text.strip(), re.S)
        parts = match.group(1).split(",") if match else []
        if len(parts) != count:
            raise self.unknown(f"{text} for a vector of {count}")
        return [self.operand(part, kind) for part in parts]

    def vector_of(self, text, kind):
        return self.vector("{" + text.strip()[1:-1] + "}", kind, text.count(",") + 1) if "," in text else [self.operand(text.strip()[1:-1], kind)]

    def modifiers(self, words, *allowed):
        """The space, the length of a vector, and what is left of an instruction's words between its name and its type."""
        space, count, rest = "generic", 1, []
        for word in words:
            if word in self.SPACE:
                space = word
            elif word in ("v2", "v4"):
                count = int(word[1])
            elif word == "nc" or word.startswith("L1::") or word.startswith("L2::"):
                pass
            elif word in self.ORDER or word in self.SCOPE:
                pass
            else:
                rest.append(word)
        if any(word not in allowed for word in rest):
            raise self.unknown(".".join(rest))
        return space, count, rest

    def instruction(self, text):
        text = text.strip()
        if not text:
            return ""
        match = re.fullmatch(r"\.reg\s+\.(\w+)\s+([\w\s,]+)", text)
        if match:
            kind, names = match.group(1), [name.strip() for name in match.group(2).split(",")]
            if kind != "pred" and kind not in self.TYPES:
                raise self.unknown(text)
            for name in names:
                self.registers[name] = kind
            return f"[[maybe_unused]] {'bool' if kind == 'pred' else self.TYPES[kind]} {', '.join(names)};"
        match = re.fullmatch(r"(?:@(!?)(\w+)\s+)?([a-z][\w.:]*)\s*(.*)", text, re.S)
        if not match:
            raise self.unknown(text)
        guard = ""
        if match.group(2):
            if self.registers.get(match.group(2)) != "pred":
                raise self.unknown(f"@{match.group(2)} without .reg .pred")
            guard = f"if ({match.group(1)}{match.group(2)}) "
        name, *words = match.group(3).split(".")
        arguments = [match.group(4)[a:b] for a, b in split(match.group(4), 0, len(match.group(4)), ",")]
        return guard + "{ " + self.statement(name, words, arguments, text) + " }"

    def statement(self, name, words, arguments, text):
        if name in ("fence", "membar"):
            return ""
        if name == "griddepcontrol" and words in (["launch_dependents"], ["wait"]):
            return "::emulator::" + {"launch_dependents": "launch_next();", "wait": "wait_previous();"}[words[0]]
        if name == "nanosleep":
            return "::emulator::pause(::emulator::here());"
        if name == "setp" and len(words) == 2 and words[0] in self.COMPARE and words[1] in self.TYPES and len(arguments) == 3:
            target, a, b = arguments[0].strip(), self.operand(arguments[1], words[1]), self.operand(arguments[2], words[1])
            if self.registers.get(target) != "pred":
                raise self.unknown(text)
            return f"{target} = {a} {self.COMPARE[words[0]]} {b};"
        if name == "barrier" and words[:2] == ["cluster", "arrive"]:
            return ""  # where it waits it meets the others
        if name == "barrier" and words[:2] == ["cluster", "wait"]:
            return "::emulator::meet_cluster(::emulator::here());"
        if name == "bar" and words == ["sync"] and len(arguments) == 2:
            return f"::emulator::meet_threads({self.operand(arguments[0], 's32')}, {self.operand(arguments[1], 's32')}, ::emulator::here());"
        if name == "mma" and words == "sync aligned m8n8k4 row col f64 f64 f64 f64".split() and len(arguments) == 4:
            (d, e), (a,), (b,), c = (self.vector_of(argument, "f64") for argument in arguments)
            if c != [d, e]:
                raise self.unknown(text)
            return f"::emulator::add_product({d}, {e}, {a}, {b}, ::emulator::here());"
        if name == "mbarrier" or name == "cp":
            return self.asynchronous(".".join([name] + words), arguments, text)
        if name == "selp" and len(words) == 1 and words[0] in self.TYPES and len(arguments) == 4:
            target, a, b = (self.operand(argument, words[0]) for argument in arguments[:3])
            if self.registers.get(arguments[3].strip()) != "pred":
                raise self.unknown(text)
            return f"{target} = {arguments[3].strip()} ? {a} : {b};"
        kind = words[-1] if words else ""
        if kind not in self.TYPES:
            raise self.unknown(text)
        cpp = self.TYPES[kind]
        if name == "mapa" and kind == "u64" and len(words) == 1 and len(arguments) == 3:
            target, own, rank = self.operand(arguments[0], kind), self.operand(arguments[1], kind), self.operand(arguments[2], "u32")
            return f"{target} = (unsigned long long)::emulator::cluster_shared((const void *){own}, {rank});"
        if name == "mapa" and kind == "u32" and words == ["shared::cluster", "u32"] and len(arguments) == 3:
            target, own, rank = (self.operand(argument, kind) for argument in arguments)
            return f"{target} = ::emulator::cluster_address({own}, {rank});"
        if name == "st" and words == "async weak shared::cluster mbarrier::complete_tx::bytes f64".split() and len(arguments) == 3:
            to, barrier = self.address(arguments[0], kind, "shared"), self.address(arguments[2], "b64", "shared")
            return f"::emulator::push({to}, {self.operand(arguments[1], kind)}, {barrier});"
        if "L2::cache_hint" in words and len(arguments) == 3:
            self.operand(arguments.pop(), "u64")  # what the cache keeps changes nothing
        if name == "createpolicy" and len(arguments) == 2 and arguments[1].strip() == "1.0":
            return f"{self.operand(arguments[0], kind)} = 0;"
        if name == "ld" and len(arguments) == 2:
            space, count, _ = self.modifiers(words[:-1])
            targets = self.vector(arguments[0], kind, count)
            return (f"{cpp} got[{count}]; ::emulator::load_vector<{cpp}, {count}>({self.address(arguments[1], kind, space)}, got); "
                    + " ".join(f"{target} = got[{k}];" for k, target in enumerate(targets)))
        if name == "st" and len(arguments) == 2:
            space, count, _ = self.modifiers(words[:-1])
            values = ", ".join(f"({cpp}){value}" for value in self.vector(arguments[1], kind, count))
            return f"const {cpp} given[{count}] = {{{values}}}; ::emulator::store_vector<{cpp}, {count}>({self.address(arguments[0], kind, space)}, given);"
        if name in ("red", "atom"):
            space, count, rest = self.modifiers(words[:-1], *self.ATOMIC)
            target = arguments.pop(0) if name == "atom" and arguments else None
            if len(rest) != 1 or count != 1 or len(arguments) != (3 if rest[0] == "cas" else 2):
                raise self.unknown(text)
            given = [self.operand(a, kind) for a in arguments[1:]]
            values = f"const {cpp} value = ({cpp}){given[0]};" + (f" const {cpp} other = ({cpp}){given[1]};" if len(given) > 1 else "")
            change = f"[=]({cpp} old) {{ (void)old; return ({cpp})({self.ATOMIC[rest[0]]}); }}"
            update = f"::emulator::update({self.address(arguments[0], kind, space)}, {change}, ::emulator::here());"
            return values + (f" {self.operand(target, kind)} = {update}" if target else " " + update)
        if name in self.ARITHMETIC and all(word in self.ROUNDING for word in words[:-1]):
            given = [self.operand(a, kind) for a in arguments]
            form = self.ARITHMETIC[name]
            if len(given) != 1 + form.count("{"):
                raise self.unknown(text)
            return f"{given[0]} = {form.format(*given[1:])};"
        raise self.unknown(text)

    # Barriers in shared memory, and copies, which come at once. A number: which argument is an address in shared memory (s), in global
    # memory (g), a number (n), or the state of a barrier of which nothing is known (_).
    ASYNCHRONOUS = {
        "mbarrier.init.shared::cta.b64": ("sn", "barrier_begin({0}, {1})"),
        "mbarrier.arrive.shared::cta.b64": ("bs", "barrier_arrive({1})"),
        "mbarrier.arrive.shared::cluster.b64": ("_s", "barrier_arrive({1})"),
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64": ("sn", "barrier_expect({0}, {1})"),
        "mbarrier.try_wait.parity.shared::cta.b64": ("psn", "{0} = ::emulator::barrier_passed({1}, {2}, ::emulator::here())"),
        "mbarrier.test_wait.parity.shared::cta.b64": ("psn", "{0} = ::emulator::barrier_passed({1}, {2}, ::emulator::here())"),
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64": ("s", "barrier_arrive({0})"),
        "cp.async.ca.shared.global": ("sgn", "copy({0}, {1}, {2})"),
        "cp.async.ca.shared.global zfill": ("sgnn", "copy_or_zero({0}, {1}, {2}, {3})"),
        "cp.async.cg.shared.global": ("sgn", "copy({0}, {1}, {2})"),
        "cp.async.commit_group": ("", ""),
        "cp.async.wait_group": ("n", ""),
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes": ("sgns", "copy({0}, {1}, {2}); ::emulator::barrier_complete({3}, {2})"),
        "cp.async.bulk.prefetch.L2.global": ("gn", ""),
        "cp.async.bulk.global.shared::cta.bulk_group": ("gsn", "copy({0}, {1}, {2})"),
        "cp.async.bulk.commit_group": ("", ""),
        "cp.async.bulk.wait_group.read": ("n", ""),
    }

    def asynchronous(self, name, arguments, text):
        if name == "cp.async.ca.shared.global" and len(arguments) == 4:
            name += " zfill"  # as the compiler calls it
        if name.endswith(".L2::cache_hint"):
            name = name[: -len(".L2::cache_hint")]
            self.operand(arguments.pop(), "u64")  # what the cache keeps changes nothing
        if name not in self.ASYNCHRONOUS:
            raise self.unknown(text)
        kinds, form = self.ASYNCHRONOUS[name]
        if len(kinds) != len([argument for argument in arguments if argument.strip()]):
            raise self.unknown(text)
        given = []
        for kind, argument in zip(kinds, arguments):
            if kind == "n":
                given.append(self.operand(argument, "s32"))
            elif kind in "sg":
                given.append("(void *)" + self.address(argument, "b64", "shared" if kind == "s" else "global"))
            elif kind == "_" and argument.strip() == "_":
                given.append("")
            elif kind == "_" or self.registers.get(argument.strip()) != ("pred" if kind == "p" else "b64"):
                raise self.unknown(text)
            else:
                given.append(argument.strip())
        form = form.format(*given)
        return (form if not form or (given[0] and form.startswith(given[0] + " = ")) else "::emulator::" + form) + (";" if form else "")

    def translate(self):
        text = self.text.strip()
        if text.startswith("{") and text.endswith("}"):
            text = text[1:-1]
        parts = [part for part in (self.instruction(part) for part in text.split(";")) if part]
        return "do { " + " ".join(parts) + " } while (0)"


class Source:
    """One file. Its code has no comments and empty strings, and the same length as its text."""

    def __init__(self, text):
        self.text = COMMENT.sub(lambda m: m.group(0) if m.group(1) else blank(m), text)
        self.code = STRING.sub(lambda m: '"' + re.sub(r"[^\n]", " ", m.group(0)[1:-1]) + '"', self.text)
        self.edits = []

    def replace(self, begin, end, new):
        """Lines keep their numbers, and macros their ends of lines."""
        old = self.text[begin:end]
        breaks = "".join(re.findall(r"\\?\n", old)) if old.count("\n") > new.count("\n") else ""
        self.edits.append((begin, end, new + breaks))

    def result(self):
        out, at = [], 0
        for begin, end, new in sorted(self.edits):
            if begin < at:
                raise Unknown(begin, "constructs that overlap")
            out += [self.text[at:begin], new]
            at = end
        return "".join(out) + self.text[at:]

    def kernel_before(self, position):
        """The range of the kernel's name that ends before position: identifiers, :: and template arguments."""
        end = len(self.code[:position].rstrip(" \t\n\\"))
        k, angles, rounds = end, 0, 0
        if self.code[:k].endswith(">"):
            while k > 0:
                k -= 1
                if self.code[k] in "()":
                    rounds += 1 if self.code[k] == ")" else -1
                elif rounds == 0 and self.code[k - 1:k + 1] == "<<":
                    k -= 1
                elif rounds == 0 and self.code[k] in "<>":
                    angles += 1 if self.code[k] == ">" else -1
                    if angles == 0:
                        break
        start = len(self.code[:k].rstrip(" \t\n\\"))
        name = re.search(r"[\w:]*$", self.code[:start]).group(0)
        if not name:
            raise Unknown(position, "a launch of what is no kernel's name")
        return start - len(name), end

    def launches(self):
        """kernel<<<grid, block, shared, stream>>>(arguments) is a call of launch<kernel>(Config(...), arguments)."""
        for match in re.finditer("<<<", self.code):
            start, end = self.kernel_before(match.start())
            close = self.code.find(">>>", match.end())
            call = re.compile(r"[\s\\]*\(").match(self.code, close + 3) if close >= 0 else None
            if not call:
                raise Unknown(match.start(), "a launch without >>>(")
            last = matching(self.code, call.end() - 1)
            empty = not self.code[call.end():last].strip()
            self.replace(start, start, "::emulator::launch<")
            self.replace(end, match.end(), ">(::emulator::Config(")
            self.replace(close, call.end(), ")" + ("" if empty else ", "))

    def shared(self):
        """A variable of a block is a reference to what the emulator has for it."""
        for match in re.finditer(r"(\bextern\s+)?\b__shared__\b", self.code):
            end = match.end()
            while end < len(self.code) and self.code[end] != ";":
                end = matching(self.code, end) + 1 if self.code[end] in BRACKETS else end + 1
            declaration = re.sub(r"\s+", " ", self.text[match.end():end]).strip()
            declaration = re.sub(r"\b__align__ ?\([^)]*\) ?", "", declaration)  # the emulator aligns more than any asks for
            if match.group(1):
                variable = re.fullmatch(r"(.*?)(\w+) ?\[ ?\]", declaration)
                if not variable:
                    raise Unknown(match.start(), "extern __shared__ of another form than type name[]")
                kind, name = variable.group(1).strip(), variable.group(2)
                self.replace(match.start(), end, f"{kind} *const {name} = ({kind} *)::emulator::dynamic_shared()")
                continue
            record = re.fullmatch(r"(union|struct) ?(\w*) ?(\{.*\}) ?(\w+)", declaration)
            if record:
                kind, name, body, variable = record.groups()
                name = name or f"emulator_{kind}_{variable}"
                # the body keeps its lines
                opening, closing = self.code.index("{", match.end()), matching(self.code, self.code.index("{", match.end()))
                self.replace(match.start(), opening, f"{kind} {name} ")
                self.replace(closing + 1, end, f"; {name} &{variable} = ::emulator::shared<{name}>([] {{ }})")
                continue
            parts = [declaration[a:b].strip() for a, b in split(declaration, 0, len(declaration), ",") if declaration[a:b].strip()]
            # commas of template arguments are no separators
            if "<" in parts[0] and ">" not in parts[0]:
                parts = [declaration]
            first = re.fullmatch(r"(.*[\s*>])(\w+)((?: ?\[[^\]]*\])*)", parts[0])
            if not first or "=" in declaration or "(" in first.group(1):
                raise Unknown(match.start(), f"a declaration of shared memory that is not understood: {declaration}")
            made = []
            for number, part in enumerate(parts):
                variable = first if number == 0 else re.fullmatch(r"()(\w+)((?: ?\[[^\]]*\])*)", part)
                if not variable or (number and "*" in first.group(1)):
                    raise Unknown(match.start(), f"a declaration of shared memory that is not understood: {declaration}")
                kind = f"{first.group(1).strip()}{variable.group(3)}"
                reference = f"(&{variable.group(2)}){variable.group(3)}" if variable.group(3) else f"&{variable.group(2)}"
                made.append(f"{first.group(1).strip()} {reference} = ::emulator::shared<{kind}>([] {{ }})")
            self.replace(match.start(), end, "; ".join(made))

    def assembly(self):
        for match in re.finditer(r"\b(?:asm|__asm__)\b(?:\s+(?:volatile|__volatile__)\b)?\s*", self.code):
            if self.code[match.end()] != "(":
                raise Unknown(match.start(), "asm of another form than asm(...)")
            end = matching(self.code, match.end())
            sections = split(self.code, match.end() + 1, end, ":")
            text = "".join(re.sub(r"\\[nt]", " ", string[1:-1]) for string in STRING.findall(self.text[slice(*sections[0])]))
            operands = []
            for begin, stop in sections[1:3]:
                for a, b in split(self.code, begin, stop, ","):
                    operand = re.fullmatch(r'\s*"([^"]+)"\s*\((.*)\)\s*', self.text[a:b], re.S)
                    if operand:
                        operands.append((operand.group(1), operand.group(2)))
                    elif self.text[a:b].strip():
                        raise Unknown(match.start(), f"an operand of asm that is not understood: {self.text[a:b].strip()}")
            try:
                self.replace(match.start(), end + 1, Ptx(text, operands).translate())
            except Unknown as error:
                raise Unknown(match.start(), str(error)) from None

    def identifiers(self, known):
        for match in re.finditer(r"\b(?:__\w+|cooperative_groups\b)", self.code):
            name = match.group(0)
            if name in REFUSED:
                raise Unknown(match.start(), f"{name}: {REFUSED[name]}")
            if name not in known and not any(begin <= match.start() < end for begin, end, _ in self.edits):
                raise Unknown(match.start(), f"{name} is neither translated nor emulated")
        for match in re.finditer(r"\b(?:texture|surface)\s*<", self.code):
            raise Unknown(match.start(), f"{match.group(0)} is not emulated")

    def translate(self, known):
        self.launches()
        self.shared()
        self.assembly()
        self.identifiers(known)
        return self.result()


def translate(text, name, known):
    """The translation of a file. An error names file and line."""
    try:
        return Source(text).translate(known)
    except Unknown as error:
        raise SystemExit(f"{name}:{line_of(text, error.position)}: error: {error}") from None


def line_of(text, position):
    return text.count("\n", 0, position) + 1


# Pieces of code, and what must be found in the translation.
TRANSLATED = [
    ("k<<<g, b, 0, s>>>(x, y);", "::emulator::launch<k>(::emulator::Config(g, b, 0, s), x, y);"),
    ("k <<<1, 32>>> ();", "::emulator::launch<k>(::emulator::Config(1, 32));"),
    ("a::k<V, (R > 2), 1 << 2>\n  <<<f(1, 2), B>>>(\n    x);", "::emulator::launch<a::k<V, (R > 2), 1 << 2>>(::emulator::Config(\nf(1, 2), B), \n    x)"),
    ("/* k<<<1, 2>>>(); */ int a; // <<<", "int a;"),
    ('const char *t = "k<<<1, 2>>>()";', '"k<<<1, 2>>>()"'),
    ("#define LAUNCH(kernel, ...) \\\n  if (n) kernel<<<n, 1>>>(__VA_ARGS__)",
     "\\\n  if (n) ::emulator::launch<kernel>(::emulator::Config(n, 1), __VA_ARGS__)"),
    ("__shared__ int a, b[3][N];", "int &a = ::emulator::shared<int>([] { }); int (&b)[3][N] = ::emulator::shared<int[3][N]>([] { });"),
    ("__shared__ typename R<V, 2>::T s;", "typename R<V, 2>::T &s = ::emulator::shared<typename R<V, 2>::T>([] { });"),
    ("__shared__ union {\n  int a;\n} s;", "union emulator_union_s {\n  int a;\n}; emulator_union_s &s ="),
    ("extern __shared__ __align__(16) unsigned char s[];", "unsigned char *const s = (unsigned char *)::emulator::dynamic_shared();"),
    ('asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");',
     "::emulator::load_vector<float, 1>((float *)((char *)(p)), got); (v) = got[0];"),
    ('asm("ld.acquire.gpu.global.v2.s32 {%0, %1}, [%2+8];" : "=r"(v.x), "=r"(v.y) : "l"(p));',
     "load_vector<int, 2>((int *)((char *)(p) + 8), got); (v.x) = got[0]; (v.y) = got[1];"),
    ('asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");', "store_vector<unsigned long long, 1>("),
    ('asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(e));', "(e) = 0;"),
    ('asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(e));', "(e) = 0;"),
    ('asm volatile("st.relaxed.gpu.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(p), "d"(v), "l"(e) : "memory");', "store_vector<double, 1>("),
    ('asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(p), "d"(v), "l"(e) : "memory");', "store_vector<double, 1>("),
    ('asm volatile("st.global.L2::cache_hint.v2.f64 [%0], {%1, %2}, %3;" ::"l"(p), "d"(v), "d"(w), "l"(e) : "memory");', "store_vector<double, 2>("),
    ('asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(p));', "(int)(old + value)"),
    ('asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], %2, %3;" : "=r"(o) : "l"(p), "r"(a), "r"(b));', "old == value ? other : old"),
    ('asm volatile("barrier.cluster.arrive.release.aligned;\\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");', "::emulator::meet_cluster("),
    ('asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c), "+d"(d) : "d"(a), "d"(b));',
     "::emulator::add_product((c), (d), (a), (b), ::emulator::here())"),
    ('asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");', "::emulator::meet_threads((number), (threads), ::emulator::here())"),
    ('asm volatile("griddepcontrol.wait;" ::: "memory");', "::emulator::wait_previous();"),
    ('asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));', "(rank) = ::emulator::cluster_rank()"),
    ('asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory");', "::emulator::barrier_begin((void *)"),
    ('asm volatile("{\\n.reg .pred p;\\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\\nselp.s32 %0, 1, 0, p;\\n}" : "=r"(d) : "r"(b), "r"(q) : "memory");',
     "p = ::emulator::barrier_passed("),
    ('asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\\ncp.async.bulk.commit_group;" ::"l"(t), "r"(f), "r"(n) : "memory");',
     "::emulator::copy((void *)"),
    ('asm("mapa.u64 %0, %1, %2;" : "=l"(q) : "l"(p), "r"(rank));', "::emulator::cluster_shared((const void *)(p), (rank))"),
    ('asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(q) : "r"(p), "r"(rank));', "(q) = ::emulator::cluster_address((p), (rank))"),
    ('asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(t), "d"(v), "r"(b) : "memory");',
     "::emulator::push((double *)"),
    ('asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(b) : "memory");', "::emulator::barrier_arrive((void *)"),
    ('asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(t), "l"(f), "r"(n) : "memory");', "::emulator::copy_or_zero((void *)"),
    ('asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(t), "l"(f), "l"(e) : "memory");', "::emulator::copy((void *)"),
    ('asm("{ .reg .pred q; setp.lt.s32 q, %1, 0; @!q mov.f64 %0, 0d3ff0000000000000; }" : "+d"(v) : "r"(i));',
     "if (!q) { (v) = ::emulator::bits<double>(0x3ff0000000000000ull); }"),
]
# Pieces of code that must be an error in the given line, and a part of its message.
ERRORS = [
    ("int a;\nunsigned m = __activemask();", 2, "__activemask"),
    ("int a = __vadd4(b, c);", 1, "__vadd4 is neither translated nor emulated"),
    ("__constant__ int a;", 1, "constant memory"),
    ("\n\nk<<<1, 2;", 3, "a launch without >>>("),
    ("(k)<<<1, 2>>>();", 1, "no kernel's name"),
    ("\n__shared__ int *a, *b;", 2, "a declaration of shared memory"),
    ("__shared__ int a = 3;", 1, "a declaration of shared memory"),
    ("extern __shared__ int a;", 1, "extern __shared__"),
    ('/*\n*/ asm("bar.arrive 1, 64;");', 2, "PTX that is not emulated"),
    ('asm("ld.relaxed.gpu.global.f16 %0, [%1];" : "=h"(v) : "l"(p));', 1, "PTX that is not emulated"),
    ('asm("ld.relaxed.gpu.global.s32 %0, [%1];" : "=d"(v) : "l"(p));', 1, 'operand %0 with constraint "=d"'),
    ('asm("ld.relaxed.gpu.shared.s32 %0, [%1];" : "=r"(v) : "l"(p));', 1, 'address  [%1] with constraint "l"'),
    ('asm("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(b));', 1, "PTX that is not emulated"),
    ('asm("griddepcontrol.launch;");', 1, "PTX that is not emulated"),
    ('asm("mov.s32 %0, %laneid;" : "=r"(v));', 1, "operand %laneid"),
    ("void f() { auto g = cooperative_groups::this_thread_block(); }", 1, "cooperative_groups: grid-wide barriers are not emulated, and clusters by PTX"),
    ("int a;\n#include <cooperative_groups.h>", 2, "cooperative_groups: grid-wide barriers are not emulated, and clusters by PTX"),
    ("template <int N>\n__global__ void __cluster_dims__(2, 1, 1) two(int n) { f(); }", 2, "__cluster_dims__: clusters are emulated where cudaLaunchKernelEx() asks for them"),
]


def self_test():
    known, problems = known_identifiers(), []
    for code, wanted in TRANSLATED:
        try:
            result = translate(code, "test.cu", known)
        except SystemExit as error:
            result = str(error)
        if wanted not in result:
            problems.append(f"{code!r} becomes {result!r}, without {wanted!r}")
        if result.count("\n") != code.count("\n"):
            problems.append(f"{code!r} has another number of lines in {result!r}")
    for code, line, wanted in ERRORS:
        try:
            problems.append(f"{code!r} becomes {translate(code, 'test.cu', known)!r}")
        except SystemExit as error:
            if not str(error).startswith(f"test.cu:{line}: error: ") or wanted not in str(error):
                problems.append(f"{code!r} gives the error {str(error)!r}, not in line {line} of {wanted!r}")
    for problem in problems:
        print(f"translate: FAILED: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"translate: {len(TRANSLATED)} pieces of code translated, {len(ERRORS)} refused")


def main(arguments):
    source, target = Path(arguments[0]), Path(arguments[1])
    label = arguments[2] if len(arguments) > 2 else source.name
    known = known_identifiers()
    files = sorted(p for p in source.rglob("*") if p.suffix in (".cu", ".cuh", ".h"))
    if not any(p.suffix == ".cu" for p in files):
        raise SystemExit(f"translate.py: no *.cu in {source}")
    for path in files:
        name = path.relative_to(source)
        text = translate(path.read_text(encoding="utf-8"), f"{label}/{name}", known)
        out = target / (name.with_suffix(".cpp") if path.suffix == ".cu" else name)
        text = f'#include "emulator.h"\n#line 1 "{label}/{name}"\n{text}'
        out.parent.mkdir(parents=True, exist_ok=True)
        if not out.exists() or out.read_text(encoding="utf-8") != text:  # what has not changed is not compiled again
            out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) in (3, 4):
        main(sys.argv[1:])
    else:
        sys.exit(__doc__)
