# SPDX-License-Identifier: Apache-2.0
"""Servers that a tenant may run: what they do to whoever asks them is meant badly."""
