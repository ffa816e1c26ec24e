#!/bin/sh
# The first process of a host, in namespaces of its own: a read-only Debian ($1) with the directories of this host ($2). It runs until it is killed,
# and its end is the end of all processes of the host.
set -eu
root=$2/root
mkdir -p "$root" "$2/etc" "$2/postgresql" "$2/etcd"
mount --bind "$1" "$root"
mount -o remount,ro,bind "$root"
mount --bind "$2/etc" "$root/etc/patroni"
mount --bind "$2/postgresql" "$root/var/lib/postgresql"
mount --bind "$2/etcd" "$root/var/lib/etcd"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
chown etcd "$root/var/lib/etcd" 2>/dev/null || chroot "$root" chown etcd /var/lib/etcd
chroot "$root" chown postgres /var/lib/postgresql
chroot "$root" install -d -o postgres /run/postgresql
echo ready
exec chroot "$root" /bin/bash -c 'sleep infinity & wait'
