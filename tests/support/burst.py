"""A writer of its own process: memorizes claims and says which were acknowledged, one JSON line each.

usage: python -m tests.support.burst HOME ROOT NAME COUNT [LABEL]
"""

import json
import sys

import hindbrain


def main(home: str, root: str, name: str, count: str, label: str = "") -> int:
    with hindbrain.open(home=home, root=root, agent=f"{name}:maker") as session:
        for number in range(int(count)):
            claim = label or f"Finding {name} {number}"
            text = f"the writer {name} saw thing {number}"
            answer = session.call("memorize", node_label=claim, text=text)
            if not answer["ok"]:
                print(json.dumps(answer), file=sys.stderr)
                return 1
            print(json.dumps({"slug": answer["slug"], "text": text}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
