#!/bin/sh
# setup.sh FOLDER   Makes FOLDER/trixie: Debian's Mesa (26.1 or newer, from the backports of trixie),
# its shims that stand in for the kernel drivers of GPUs, and the headers of Vulkan. About 750 MB
# and some minutes, as root, with apt. Does nothing where it is there.
set -eu
mkdir -p "$1"
tree=$1/trixie
[ ! -e "$tree/.ready" ] || exit 0
command -v debootstrap >/dev/null || {
    apt-get -q update
    apt-get -q -y install debootstrap
}
# What an earlier attempt left.
rm -rf "$tree"
debootstrap --variant=minbase trixie "$tree"
# The mirror that debootstrap took.
sed 's/ trixie / trixie-backports /' "$tree/etc/apt/sources.list" \
    >"$tree/etc/apt/sources.list.d/backports.list"
chroot "$tree" apt-get -q update
chroot "$tree" apt-get -q -y --no-install-recommends -t trixie-backports install \
    mesa-vulkan-drivers libvulkan1 libvulkan-dev mesa-drm-shim
touch "$tree/.ready"
