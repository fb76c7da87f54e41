#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails on a row of tests/mutants.tsv that scripts/mutants could not apply: its old text does not
# stand exactly once in its file, or a test of it is gone.
exec "${PYTHON3:-python3}" "${top_srcdir:-.}/scripts/mutants" --check
