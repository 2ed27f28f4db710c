def test_x(kscaled):
    print([k for k in kscaled.metrics() if "kube_requests" in k]); assert 0
