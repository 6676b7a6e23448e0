"""A process that writes five events of a mission and then dies without a chance to tidy up."""

import os
import signal
import sys
from pathlib import Path

from hindbrain.services.missions.files import MissionFiles
from tests.support.missions import MissionDesk


def main(place: str) -> None:
    desk = MissionDesk(Path(place))
    desk.log.mirrors.append(MissionFiles(desk.log).mirror)
    desk.begin()
    for number in range(5):
        desk.add("msn_01TEST", "file_read", f"src/{number}.py")
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1])
