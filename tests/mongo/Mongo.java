/* SPDX-License-Identifier: Apache-2.0 */

import java.io.ByteArrayInputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/*
 * What stands for MongoDB in the tests: documents in memory, on a port of 127.0.0.1. Started as
 * Mongo PORT [CERTIFICATE KEY], both PEM, the key as PKCS #8; then it speaks TLS. Its first line is
 * "mongo: ready"; it ends with its input.
 */
public class Mongo {
	private static byte[] key(String path) throws Exception {
		String pem = Files.readString(Path.of(path));

		return Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
	}

	public static void main(String[] args) throws Exception {
		MongoServer server = new MongoServer(new MemoryBackend());

		if (args.length > 1) {
			X509Certificate certificate = (X509Certificate)CertificateFactory.getInstance("X.509")
				.generateCertificate(new ByteArrayInputStream(Files.readAllBytes(Path.of(args[1]))));
			server.enableSsl(KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
				.generatePrivate(new PKCS8EncodedKeySpec(key(args[2]))), null, certificate);
		}
		server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
		System.out.println("mongo: ready");
		System.out.flush();
		while (System.in.read() >= 0)
			continue;
		server.shutdownNow();
		System.exit(0);
	}
}
