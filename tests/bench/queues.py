#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What kscaled sees of SQS, for the benchmark: one answer to every POST, over connections that stay, and how many of both there were. Signatures are not looked at: moto, which does, answers a hundred in a second.

    queues.py PORT
"""
import asyncio
import json
import sys

ANSWER = json.dumps({"Attributes": {"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"}}).encode()
counts = {"connections": 0, "requests": 0}


async def serve(reader, writer):
    counts["connections"] += 1
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = next((int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length:")), 0)
            await reader.readexactly(length)
            asked = head.startswith("post")
            counts["requests"] += asked
            body = ANSWER if asked else json.dumps(counts).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        counts["connections"] -= 1
        writer.close()


async def main(port):
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    await server.serve_forever()


asyncio.run(main(int(sys.argv[1])))
