#!/bin/bash
# Makes img/*.png anew from the service's SVG pictures: 226 by 314 pixels, at most 256 colours. It needs
# rsvg-convert of librsvg2-bin, and pngquant.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
go build -o "$folder/server" ../../cmd/server
"$folder/server" --addr 127.0.0.1:8099 --data "$folder/data" --log-level error &
trap 'kill %1; rm -rf "$folder"' EXIT
curl --silent --retry 20 --retry-connrefused --output /dev/null http://127.0.0.1:8099/readyz
for picture in img/*.png; do
    curl --silent --fail "http://127.0.0.1:8099/static/$(basename --suffix=.png "$picture" | sed 's,^,img/,').svg" |
        rsvg-convert --width 226 --height 314 | pngquant --nofs 256 - >"$folder/picture"
    mv "$folder/picture" "$picture"
done
