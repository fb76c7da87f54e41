# SPDX-License-Identifier: Apache-2.0
# Tests of report/ and client/report; see Makefile.am for what a line looks like.
