"""The libcurl that the programs run with: the system's, or the shared library of another one instead."""

import os
import re
import subprocess
import sys

ASK = "import ctypes; f = ctypes.CDLL('libcurl.so.4').curl_version; f.restype = ctypes.c_char_p; print(f().decode())"


def use(folder):
    """From now on programs run with the libcurl that the .pc file of that folder describes."""
    asked = subprocess.run(["pkg-config", "--variable=libdir", "libcurl"], capture_output=True, text=True,
                           env={**os.environ, "PKG_CONFIG_PATH": folder})
    if asked.returncode != 0:
        raise SystemExit(f"libcurl: {folder} has no libcurl.pc; scripts/libcurl prints such a folder")
    os.environ["LD_LIBRARY_PATH"] = asked.stdout.strip()


def version():
    """The version of the libcurl that a program runs with if it is started now."""
    text = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True).stdout
    return re.search(r"libcurl/(\S+)", text)[1]
