# SPDX-License-Identifier: Apache-2.0
"""What the live tests stand on: a control plane, kscaled and Redis as real processes, and ways to look at them."""
