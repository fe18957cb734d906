"""Puts the programs that `make dist` built into a wheel; scripts/dist.sh says where they are, and their version."""

import os
import platform

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Version(MetadataHookInterface):
    def update(self, metadata):
        metadata["version"] = os.environ["VARVE_DIST_VERSION"]


class Binary(BuildHookInterface):
    def initialize(self, version, build_data):
        _, glibc = platform.libc_ver()
        machine = platform.machine()
        # The glibc of this machine is the oldest that the wheel may meet.
        build_data["tag"] = f"py3-none-manylinux_{glibc.replace('.', '_')}_{machine}"
        build_data["pure_python"] = False
        folder = os.environ["VARVE_DIST_PROGRAMS"]
        build_data["shared_scripts"] = {os.path.join(folder, name): name for name in ("varve", "varve-bench")}
