# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# The top folders, as tests/rooms has them. Sourced at the top of the tree.

# folders_with_rooms, folders_with_c, all_folders: print their names.
folders_with_rooms() { sed -n 's/^\([a-z]*\)[a-z_/]*:.*|.*/\1/p' tests/rooms | LC_ALL=C sort -u; }
folders_with_c() { folders_with_rooms && sed -n 's/^no rooms://p' tests/rooms; }
all_folders() { folders_with_c && sed -n 's/^no C://p' tests/rooms; }
