# SPDX-License-Identifier: Apache-2.0
"""Answers every connection with one byte a second, for ever. A real Redis cannot be made to do that."""
import selectors
import socket
import sys
import time

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(64)
listener.setblocking(False)
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
clients = []
while True:
    for _ in selector.select(1):
        client, _ = listener.accept()
        client.setblocking(False)
        clients.append(client)
    for client in list(clients):
        try:
            client.send(b"$")
            client.recv(65536)
        except BlockingIOError:
            pass
        except OSError:
            clients.remove(client)
            client.close()
    time.sleep(1)
