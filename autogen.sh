#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes `configure` from `configure.ac`. Needed once after a checkout, not for a release tarball.
set -eu
cd "$(dirname "$0")"
mkdir -p build-aux
exec autoreconf --force --install --warnings=all,error
