"""Command lines and their judgement, and a real shell as the witness: what is judged to read changes nothing.

`R` runs unasked and changes nothing, `W` makes new files, `P` runs code of the project in the sandbox, `?` waits for a person."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.engines.command_safety import Danger, judged

THERE = frozenset({"old.txt", "src", "src/a.py", "report.xml"})
LETTERS = {Danger.READS: "R", Danger.WRITES: "W", Danger.PROJECT: "P", Danger.UNKNOWN: "?", Danger.IRREVERSIBLE: "?"}

# F20: names of files, and texts, that become code.
RUNS_NAMES = """
? find . -exec sh -c 'echo {}' ';'
? find . -exec bash -c 'cat {}' \\;
? find . -exec env sh -c 'echo {}' \\;
? find . -exec timeout 5 sh -c 'echo {}' \\;
? find . -exec nice sh -c 'echo {}' \\;
? find . -execdir sh -c 'wc -l {}' \\;
? find . -ok sh -c 'echo {}' \\;
? find . -exec {} \\;
? find . -exec awk '{print "{}"}' {} \\;
? find . -exec sed 's/a/{}/' {} +
? find . -exec echo a{} \\;
? find . -exec python3 -c 'print("{}")' \\;
? find . -exec find {} -delete \\;
R find . -exec cat + -exec rm {} \\;
? find . -name x -o -delete
? find . -fprint old.txt
? find . -fprintf src/a.py x
? find . -fls ../x
? find . -unknown x
? find $dir -name x
? find . -exec \\;
? read 'a[$(touch PWNED)]'
? read "a[$(ls)]"
? read a[0]
? read -a list
? read -p x y
? read PATH
? read IFS
? cat < /dev/tcp/127.0.0.1/9
? cat < //dev/tcp/127.0.0.1/9
? cat < /dev/../dev/tcp/127.0.0.1/9
? cat < /dev/udp/127.0.0.1/9
? exec 3<>/dev/tcp/127.0.0.1/9
? cat < "$f"
? echo x > /dev/tcp/127.0.0.1/9
? test -v 'a[$(touch PWNED)]'
? [ -v 'a[$(touch PWNED)]' ]
? [ $x ]
? [ $x = y ]
? [ "$x" "$y" ]
? [ "$x" = a -o "$y" "$z" ]
? [[ -f a ]]
? [[ 'a[$(touch PWNED)]' -eq 0 ]]
? (( a[$(touch PWNED)] ))
? echo $((a[$(touch PWNED)]))
? echo $[1+1]
? echo ${a[$(touch PWNED)]}
? echo ${x:=$(ls)}
? echo ${x//a/b}
? a[0]=1
? a=(1 2)
? x+=1
? let 'a[$(touch PWNED)]=1'
? unset 'a[$(touch PWNED)]'
? declare x=1
? export PATH=.
? printf -v 'a[$(touch PWNED)]' x
? printf "$x" y
R printf -- "$x"
? ls | xargs sh -c 'echo $0'
? ls | xargs -I{} sh -c 'echo {}'
? ls | xargs find
? ls | xargs -n1 sort
? ls | xargs -0 env
? ls | xargs tee
R ls | xargs
? sort {-o,old.txt} a
? sort -{o,n}x a
R ls | xargs cat
R ls | xargs -n 1 wc -l
R find . -name '*.txt' -exec cat {} +
R find . -type f -size -10k -print0
R find . -exec sh -c 'cat "$1"' _ {} \\;
R find . -maxdepth 1 ! -name x -exec grep -l y {} \\;
R read -r line
R while read -r line; do echo "$line"; done < notes.txt
R [ -f "$x" ]
R [ "$x" = "$y" ]
R [ ! "$x" = "$y" ]
R test -n "$x" && echo yes
R [ 1 -lt 2 -a -f notes.txt ]
R printf '%s\\n' -x "$x"
"""

# F21: options of checks that write files, load plugins or read another configuration.
OUTPUT_OPTIONS = """
? pytest --basetemp=src
? pytest --basetemp src
? pytest --baset=src
? pytest --junitxml=report.xml
? pytest --junit-xml report.xml
? pytest --log-file=old.txt
? pytest --debug=old.txt
? pytest --debug
? pytest -p evil
? pytest -pevil
? pytest -c other.ini
? pytest --rootdir=/
? pytest --confcutdir=/
? pytest -o cache_dir=src
? pytest -ocache_dir=src
? pytest --override-ini=x
? pytest --pastebin=all
? pytest --cov-report=html:src
? pytest --cache-clear
? pytest --pdb
? pytest $x
? pytest *
? python -m pytest --basetemp=src
? python3 -m pytest -p evil
? .venv/bin/pytest --junitxml=report.xml
? ruff check --output-file=old.txt .
? ruff check --output-file old.txt .
? ruff check -o old.txt
? ruff check --config other.toml
? ruff check --add-noqa .
? ruff clean
? ruff format .
? mypy --junit-xml=report.xml src
? mypy --html-report src src
? mypy --config-file other.ini src
? mypy --python-executable ./x src
? mypy --cache-dir=src src
? mypy --install-types
? pylint --output=old.txt src
? pylint --load-plugins=evil src
? pylint --init-hook=x src
? pylint --rcfile=x src
? flake8 --output-file=old.txt
? flake8 --config=x
? flake8 --tee
? eslint -o old.txt .
? eslint --output-file old.txt .
? eslint --rulesdir . .
? eslint --fix .
? eslint -c other.js .
? jest --outputFile=old.txt
? jest --json --outputFile old.txt
? jest --config=x
? jest -u
? jest --coverageDirectory=src
? vitest --outputFile=old.txt
? mocha --require ./x
? mocha --reporter-option output=old.txt
? tsc --outDir src
? tsc -p . --noEmit --generateTrace src
? prettier --write .
? rspec --out old.txt
? rspec -o old.txt
? phpunit --log-junit old.txt
? ctest -O old.txt
? ctest -S script
? go build -o old.txt .
? go build .
? go test -coverprofile=old.txt ./...
? go test -o old.txt
? go test -exec ./x ./...
? go vet -vettool=./x ./...
? go test -toolexec ./x
? cargo build --target-dir src
? cargo test --target-dir=src
? cargo build --manifest-path ../x/Cargo.toml
? cargo test --config x=y
? cargo test -- --logfile old.txt
? cargo clippy --fix
? cargo run
? cargo install x
? npm test -- --outputFile=old.txt
? npm install
? npm run build
? yarn test --outputFile=old.txt
? mvn test -DoutputDirectory=src
? gradle test --init-script x
? dotnet test -o src
? dotnet test --logger trx
? make -f other.mk test
? make test SHELL=x
? make -C .. test
? make install
? tox --workdir src
? nox -f other.py
P pytest
P pytest -q tests/test_a.py::test_one
P pytest -x -k name --maxfail=1 --tb=short
P pytest -xvs
P python -m pytest -q
P python -m unittest discover -s tests -v
P PYTHONPATH=src pytest
P ruff check .
P ruff check --select=E,F src
P ruff format --check .
P mypy --strict src
P pylint -E src
P flake8 --max-line-length=100
P black --check .
P tsc --noEmit
P eslint --max-warnings=0 .
P jest --ci -t name
P go test ./...
P go test -run TestX -count=1 ./...
P cargo test --release
P cargo test -- --nocapture --test-threads=1
P cargo clippy -- -D warnings
P npm test
P make -j4 check
P mvn -q test
P gradle check --offline
"""

# What changes which program runs, and what the rest of a line means.
AROUND = """
? PATH=. ls
? LD_PRELOAD=./x.so ls
? LD_LIBRARY_PATH=. ls
? PYTHONPATH=. ls; PYTHONSTARTUP=x ls
? GIT_DIR=x git status
? GIT_SSH_COMMAND=x git log
? BASH_ENV=x ls
? ENV=x sh -c ls
? PAGER=x git log
? IFS=x; ls
? env -S 'ls'
? env PATH=. ls
? env -u X ls
? nice -n 5 ls
? timeout --foreground 5 ls
? stdbuf -o0 ls
? exec -a x ls
? alias ls=rm
? ls() { rm x; }
? function ls { rm x; }
? trap 'ls' EXIT
? . ./x
? source ./x
? eval "$x"
? $x
? $(cat x)
? `cat x`
? ./x
? bin/ls
? /tmp/ls
? ~/ls
? cat <(ls)
? ls > >(cat)
? cat <<EOF\\nx\\nEOF
? cat <<< x
? echo $'a'
? echo $"a"
? ls |& cat
? coproc ls
? select x in a; do ls; done
? for ((;;)); do ls; done
? case x in a) ls;; esac
? for PATH in .; do ls; done
R echo {a,b}
? git -c core.pager=x log
? git --exec-path=. log
? git -C .. status
? git grep --open-files-in-pager=x y
? git grep -O y
? git grep -nO y
? git grep --op y
? git diff --ext-diff
? git diff --ext
? git diff --output=old.txt
? git diff --outp=old.txt
? git log --textconv
? git show --textconv x
? git cat-file --filters HEAD:x
? git log -Oorder
? git difftool
? git archive HEAD
? git $x
? git status $x
? git fetch
? git config x y
? git stash
? sort -o old.txt a
? sort -uoold.txt a
? sort --outpu=old.txt a
? sort --compress-program=./x a
? sort -T src a
? sort $x
? uniq a old.txt
? sed -i s/a/b/ a
? sed -n '1w old.txt' a
? sed 's/a/b/w old.txt' a
? sed 's/a/ls/e' a
? sed -f script a
? sed '1e ls' a
? sed --in-place=x p a
? awk 'BEGIN{system("ls")}'
? awk '{print > "old.txt"}' a
? awk '{print | "sh"}' a
? awk '{"ls" | getline x}' a
? awk -f script a
? awk '@load "x"' a
? awk -v x=1 '{print}' a
? gawk -i inplace '{print}' a
? tar --to-command=./x -xf a
? tar cf x .
? rsync -e ./x a b
? man -P ./x ls
? less a
? more a
? vi -c '!ls' a
? ed a
? rg --pre ./x y
? rg -z y
? rg --hostname-bin=./x y
? tree -o old.txt
? file -C -m x
? date -s x
? date 010100002030
? base64 -o old.txt a
? split a
? csplit a 1
? tee old.txt
? cp * new
? cp -t src a
? mv old.txt new
? install a b
? ln -s a b
? touch -d x y
? mkdir -m 777 x
? curl x
? wget x
? nc -l 1
? zsh -c 'ls'
? fish -c 'ls'
? python -c 'x'
? python x.py
? perl -e x
? node x
? crontab -l
? ssh host ls
? docker run x
? kubectl get x
? pip list
? sudo ls
? kill 1
? ls\u00a0#b; rm x
? ls\u2003#b; rm x
? echo a\\\\\\n#b
? r\\\\\\nm x
R ls -la
R cat notes.txt | head -3
R grep -rn "x" . | sort -k2,2n -t: | uniq -c
R ls # ; rm x
R echo 'a; rm x' "b && rm y"
R echo a\\ b\\;c
R if [ -f notes.txt ]; then cat notes.txt; else echo none; fi
R for f in *.txt; do wc -l "$f"; done
R x=1; echo "$x"
R n="$(ls | wc -l)"; echo "$n"
R (ls; pwd) | cat
R { ls; pwd; }
R ! grep -q x notes.txt
R ls 2>/dev/null
R ls >/dev/null 2>&1
R wc -l < notes.txt
R LC_ALL=C sort notes.txt
R timeout 5 ls
R sh -c 'ls | cat'
R bash -c "echo a"
R command -v ls
R dd if=notes.txt bs=1 count=2
R sed -n '1,3p' notes.txt
R sed 's/a/b/g' notes.txt
R awk -F: '{print $1, length($2)}' notes.txt
R awk 'NR==1' notes.txt
R date +%Y
R tree -L 1
R rg -n --hidden x
R jq . data.json
R diff notes.txt data.json
R git --version
W echo x > new.txt
W mkdir -p a/b
W touch new.txt
W cp notes.txt copy.txt
W ls | tee new.txt
P git status --short
P git log --oneline -5
P git diff --stat HEAD
P git grep -n word
P git branch -a
"""

# Lines that a second look found: judged as free, they ran a program, or wrote over files that were there.
SECOND_LOOK = """
? awk 'BEGIN{system\\\\\\n("touch PWNED")}'
? mawk 'BEGIN { "touch PWNED" \\\\\\n | getline x }'
? awk '{ system ("x") }' notes.txt
? awk -F: 'system("x")' notes.txt
? echo x | uniq - old.txt
? uniq - src/a.py
? uniq -c - old.txt
? python3 -m json.tool - old.txt
? python -m json.tool --sort-keys - old.txt
? find . -name old.txt -exec mv {} new.txt ';'
? find . -exec tee {} ';'
? find . -type f -exec cp notes.txt {} ';'
? find . -type f -exec cp notes.txt {} +
? find . -exec uniq notes.txt {} ';'
? find . -ok tee {} ';'
? find src -execdir tee a.py ';'
? find src -execdir cp a.py b.py ';'
? find src -execdir sh -c 'echo x > a.py' ';'
? find . -exec find . -fprint {} ';'
? eval 'cd src'; echo x > a.py
? eval "cd src" && touch .git/x
? eval ls
? cp -a l n && echo x > n
? cp -r l n; tee n
? cp -R src n | tee n/a.py
? sh -c 'cp -a l n'; echo x > n
? touch .git/hooks/pre-commit
? touch .GIT/config.worktree
? mkdir -p .git/refs/heads/x
? mkdir .hindbrain/agent-memory
? echo x > .git/new
? cp notes.txt sub/.git/config
? cd .git && touch x
? cd "$x" && mkdir y
? cd .. && mkdir y
? cd /tmp && touch y
? pytest @args.txt
? python -m pytest -q @args.txt
? mypy @args
? ruff check @args
? pylint @args
? ruff format check src
? ruff format src --quiet check
? ruff clean check
? ruff rule --check
? tsc --noEmit false
? tsc -p . --noEmit FALSE
? tsc --noEmit null
? mvn test deploy
? mvn verify install
? mvn test clean
? mvn verify org.evil:plugin:1.0:goal
? mvn test exec:java
? gradle test publish
? gradle build clean
? gradle check run
? python -X -m pytest
? python3 -W -m unittest
? python -X importtime -m pytest
P python -X dev -m pytest
P python3 -W error -m unittest
P ruff format --check src
P ruff format --diff .
P mvn test -q
P gradle test --tests=TestX
P tsc -p . --noEmit
R cat notes.txt | uniq -
R cd src && ls
R cd "$x"; cat notes.txt
W cp -r src copy
W cd src && mkdir -p new/deep
"""


def rows(text: str) -> list[tuple[str, str]]:
    found = [line.split(" ", 1) for line in text.strip().splitlines()]
    return [
        (letter, line.replace("\\\\\\n", "\\\n").replace("\\n", "\n") if "EOF" in line or "\\\\\\n" in line else line)
        for letter, line in found
    ]


TABLE = [*rows(RUNS_NAMES), *rows(OUTPUT_OPTIONS), *rows(AROUND), *rows(SECOND_LOOK)]


@pytest.mark.parametrize(("letter", "line"), TABLE, ids=[line for _, line in TABLE])
def test_f20_f21_each_line_has_its_judgement(letter: str, line: str) -> None:
    found = judged(line, exists=lambda path: path in THERE)

    assert LETTERS[found.danger] == letter, found
    assert found.asks == (letter == "?")


def test_f20_f21_the_table_is_long_and_says_nothing_twice() -> None:
    assert len(TABLE) >= 300
    assert len({line for _, line in TABLE}) == len(TABLE)


# --- the witness: real shells, in a tree whose names are code -----------------------------------------------------------------

NAMES = [
    "a; touch PWNED; #",
    "$(touch PWNED)",
    "`touch PWNED`",
    "-delete",
    "-o",
    "--output=PWNED",
    "-i",
    "-exec",
    "x' ; touch PWNED ; '",
    'y" ; touch PWNED ; "',
    "z\ntouch PWNED\n",
    "a[$(touch PWNED)]",
    "|touch PWNED",
    "{}",
    "*",
]
LINES = "touch PWNED\n$(touch PWNED)\na[$(touch PWNED)]\n-v a[$(touch PWNED)]\nfirst second\n; touch PWNED\n"
SHELLS = [one for one in ("dash", "bash", "sh") if shutil.which(one)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    for name in NAMES:
        (root / name).write_text(LINES)
    for name, text in (("notes.txt", LINES), ("old.txt", "old\n"), ("data.json", "{}\n"), ("src/a.py", "x = 1\n")):
        (root / name).write_text(text)
    return root


def state(root: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for place, directories, names in os.walk(root):
        for name in [*directories, *names]:
            path = os.path.join(place, name)
            facts = os.lstat(path)
            content = b"" if os.path.isdir(path) else Path(path).read_bytes()
            found[os.path.relpath(path, root)] = (facts.st_mode, facts.st_mtime_ns, content)
    return found


def run_in(root: Path, shell: str, line: str) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(root.parent / "home"), "LC_ALL": "C.UTF-8"}
    try:
        subprocess.run(
            [shell, "-c", line], cwd=root, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"{shell} did not end: {line!r}")


@pytest.mark.parametrize("shell", SHELLS)
def test_f20_no_line_of_the_table_that_reads_changes_anything(tree: Path, shell: str) -> None:
    before = state(tree)

    for letter, line in TABLE:
        if letter == "R":
            run_in(tree, shell, line)
            assert state(tree) == before, line


PROGRAMS = st.sampled_from(
    [
        *(
            "cat",
            "ls",
            "echo",
            "printf",
            "wc -l",
            "sort",
            "uniq",
            "head -n 2",
            "grep x",
            "sed p",
            "sed -n 1p",
            "awk '{print $1}'",
        ),
        *(
            "test",
            "[",
            "read",
            "read -r",
            "find .",
            "find . -name",
            "find . -exec",
            "xargs",
            "xargs cat",
            "xargs -I{} echo",
            "tee",
        ),
        *(
            "touch",
            "eval",
            "sh -c",
            "bash -c",
            "env",
            "timeout 2",
            "command",
            "exec",
            "date",
            "type",
            "cd",
            "diff",
            "tr a b",
            "jq .",
        ),
    ]
)
ARGUMENTS = st.sampled_from(
    [
        *(
            "notes.txt",
            "*",
            "*.txt",
            "-o",
            "-o old.txt",
            "'$(touch PWNED)'",
            '"$x"',
            "$x",
            "$(ls)",
            '"$(ls)"',
            "`ls`",
            "{}",
            "'{}'",
        ),
        *(
            "\\;",
            "+",
            "';'",
            "'a[$(touch PWNED)]'",
            "a[0]",
            "-v",
            "]",
            "= y",
            "-eq 1",
            "'touch PWNED'",
            '"touch PWNED"',
            "touch PWNED",
        ),
        *(
            "> PWNED",
            ">> old.txt",
            "< notes.txt",
            "2>&1",
            "<<< x",
            "-exec sh -c 'cat {}' \\;",
            "-delete",
            "s/x/y/w\\ PWNED",
            "#",
            "a#b",
        ),
        *(
            "\\\n",
            "{a,b}",
            "$((1))",
            "${x:-y}",
            "$'x'",
            "-i",
            "--",
            "x=1",
            "'",
            '"',
            "sh",
            "-c",
            "'{print > \"PWNED\"}'",
            "1e",
            "[a-z]*",
        ),
    ]
)
JOINS = st.sampled_from([" | ", "; ", " && ", " || ", "\n", " & ", " |\n", " # "])
WRAPS = st.sampled_from(
    [
        *("{}", "({})", "{{ {}; }}", "! {}", "if {}; then ls; fi", "for x in *; do {}; done", "x=$({})"),
        "while read -r x; do {}; done < notes.txt",
    ]
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    parts = []
    for number in range(draw(st.integers(1, 3))):
        words = [draw(PROGRAMS), *draw(st.lists(ARGUMENTS, max_size=4))]
        parts.append((draw(JOINS) if number else "") + " ".join(words))
    return draw(WRAPS).format("".join(parts))


@given(line=lines(), shell=st.sampled_from(SHELLS))
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_f20_whatever_is_judged_to_read_changes_nothing_in_a_real_shell(tree: Path, line: str, shell: str) -> None:
    if judged(line, exists=lambda _: True).danger is not Danger.READS:
        return
    before = state(tree)

    run_in(tree, shell, line)

    assert state(tree) == before
