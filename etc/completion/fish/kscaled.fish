# Loaded by fish when kscaled is first completed.
kscaled completion fish 2>/dev/null | source
