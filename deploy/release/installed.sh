#!/bin/sh
# Runs after the package was installed or upgraded. The service is not started: its operator enables it.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers riffle.conf
	systemd-tmpfiles --create riffle.conf
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart riffle
fi
