#!/bin/sh
# Runs before the package is removed: "remove" on Debian, 0 on Red Hat. An upgrade, which calls it with another
# argument, does not stop the service. The data in /var/lib/riffle stays.
set -e
case $1 in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now riffle
	fi
	;;
esac
