#!/bin/sh
# Install what the differential tests of the scalar core judge with: qemu-system-xtensa, llvm-mc, llvm-objcopy.
# Debian 12 has qemu-system-misc 7.2 and llvm-22; elsewhere any llvm with an Xtensa assembler does.
set -eu

if [ "$(id -u)" -ne 0 ]; then
    exec sudo "$0" "$@"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
llvm=llvm
if apt-cache show llvm-22 >/dev/null 2>&1; then
    llvm=llvm-22
fi
apt-get install -y -qq --no-install-recommends qemu-system-misc "$llvm"
