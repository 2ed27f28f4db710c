/* SPDX-License-Identifier: Apache-2.0 */

import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.Security;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.spi.LoginModule;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import javax.security.sasl.SaslServerFactory;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;

/*
 * What makes a broker's listener one of Amazon MSK with IAM: it takes tokens by OAUTHBEARER and objects by
 * AWS_MSK_IAM, computes their signatures anew, and lets in who has one of its keys. Written from what AWS
 * says of both, not from kscaled's code. Options of its login modules: mskRegion, mskKeys ("id,secret,session;...").
 */
public class Msk {
	private static final DateTimeFormatter TIMES = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
	private static final String DENIED = "[r-1]: Access denied";
	private static final List<String> NAMES = List.of("Action", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date",
		"X-Amz-Expires", "X-Amz-Security-Token", "X-Amz-SignedHeaders", "X-Amz-Signature");
	private static final Map<String, String[]> keys = new HashMap<>();
	private static String region;

	private static void learn(Map<String, ?> options) {
		region = (String)options.get("mskRegion");
		for (String key : ((String)options.get("mskKeys")).split(";")) {
			String[] parts = key.split(",", -1);
			keys.put(parts[0], parts);
		}
	}

	private static void demand(boolean good, String what) {
		if (!good)
			throw new SaslAuthenticationException(DENIED + " (" + what + ")");
	}

	private static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
	}

	private static byte[] hmac(byte[] key, String text) throws Exception {
		Mac mac = Mac.getInstance("HmacSHA256");
		mac.init(new SecretKeySpec(key, "HmacSHA256"));
		return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
	}

	private static String digest(String text) throws Exception {
		return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
	}

	/* The key's id, if what was signed for this host is right. */
	private static String check(Map<String, String> said, String host) throws Exception {
		TreeMap<String, String> query = new TreeMap<>(said);
		String signature = query.remove("X-Amz-Signature"), time = query.get("X-Amz-Date");
		demand(signature != null && time != null, "incomplete");
		String[] scope = query.getOrDefault("X-Amz-Credential", "").split("/");
		String day = time.substring(0, 8);
		demand(scope.length == 5 && scope[1].equals(day) && scope[2].equals(region) && scope[3].equals("kafka-cluster") &&
			scope[4].equals("aws4_request"), "scope");
		String[] key = keys.get(scope[0]);
		demand(key != null, "unknown key");
		demand(key[2].equals(query.getOrDefault("X-Amz-Security-Token", "")), "session");
		demand("kafka-cluster:Connect".equals(query.get("Action")), "action");
		demand("AWS4-HMAC-SHA256".equals(query.get("X-Amz-Algorithm")), "algorithm");
		demand("host".equals(query.get("X-Amz-SignedHeaders")), "headers");
		demand("900".equals(query.get("X-Amz-Expires")), "expiry");
		long age = Instant.now().getEpochSecond() - Instant.from(TIMES.parse(time)).getEpochSecond();
		demand(age > -300 && age < 900, "time");
		StringBuilder text = new StringBuilder();
		query.forEach((name, value) -> text.append(text.length() > 0 ? "&" : "").append(encode(name)).append('=').append(encode(value)));
		String request = "GET\n/\n" + text + "\nhost:" + host + "\n\nhost\n" + digest("");
		String toSign = "AWS4-HMAC-SHA256\n" + time + "\n" + day + "/" + region + "/kafka-cluster/aws4_request\n" + digest(request);
		byte[] derived = hmac(hmac(hmac(hmac(("AWS4" + key[1]).getBytes(StandardCharsets.UTF_8), day), region), "kafka-cluster"), "aws4_request");
		demand(HexFormat.of().formatHex(hmac(derived, toSign)).equals(signature), "signature");
		return scope[0];
	}

	/* Of OAUTHBEARER: base64 of a URL, with the agent after what was signed. */
	public static class Tokens implements AuthenticateCallbackHandler {
		@Override
		public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) {
			learn(entries.get(0).getOptions());
		}

		@Override
		public void handle(Callback[] callbacks) throws UnsupportedCallbackException {
			for (Callback c : callbacks) {
				if (!(c instanceof OAuthBearerValidatorCallback v))
					throw new UnsupportedCallbackException(c);
				try {
					v.token(token(v.tokenValue()));
				} catch (Exception e) {
					v.error(String.valueOf(e.getMessage()), null, null);
				}
			}
		}

		private static OAuthBearerToken token(String value) throws Exception {
			demand(!value.contains("="), "padding");
			URI url = URI.create(new String(Base64.getUrlDecoder().decode(value), StandardCharsets.UTF_8));
			Map<String, String> said = new HashMap<>();
			for (String pair : url.getRawQuery().split("&"))
				said.put(pair.split("=", 2)[0], URLDecoder.decode(pair.split("=", 2)[1], StandardCharsets.UTF_8));
			demand(said.remove("User-Agent") != null, "agent");
			demand(url.getScheme().equals("https") && url.getHost().equals("kafka." + region + ".amazonaws.com"), "host");
			String id = check(said, url.getHost());
			return new OAuthBearerToken() {
				@Override public String value() { return value; }
				@Override public Set<String> scope() { return Set.of(); }
				@Override public long lifetimeMs() { return System.currentTimeMillis() + 900000; }
				@Override public String principalName() { return id; }
				@Override public Long startTimeMs() { return null; }
			};
		}

		@Override
		public void close() {
		}
	}

	/* Of AWS_MSK_IAM: a JSON object; the answer is one, too. */
	public static class Server implements SaslServer {
		private final String host;
		private String id;

		Server(String host) {
			this.host = host;
		}

		@Override
		public byte[] evaluateResponse(byte[] response) throws SaslException {
			try {
				Map<?, ?> object = new ObjectMapper().readValue(response, Map.class);
				Map<String, String> said = new HashMap<>();
				demand("2020_10_22".equals(object.get("version")) && object.get("user-agent") != null, "version");
				demand(host.equals(object.get("host")), "host");
				for (String name : NAMES)
					if (object.get(name.toLowerCase()) != null)
						said.put(name, (String)object.get(name.toLowerCase()));
				id = check(said, host);
			} catch (SaslAuthenticationException e) {
				throw e;
			} catch (Exception e) {
				throw new SaslAuthenticationException(DENIED + " (" + e.getMessage() + ")");
			}
			return "{\"version\":\"2020_10_22\",\"request-id\":\"r-1\"}".getBytes(StandardCharsets.UTF_8);
		}

		@Override public String getMechanismName() { return "AWS_MSK_IAM"; }
		@Override public boolean isComplete() { return id != null; }
		@Override public String getAuthorizationID() { return id; }
		@Override public byte[] unwrap(byte[] bytes, int offset, int len) { return bytes; }
		@Override public byte[] wrap(byte[] bytes, int offset, int len) { return bytes; }
		@Override public Object getNegotiatedProperty(String name) { return null; }
		@Override public void dispose() { }
	}

	public static class Servers implements SaslServerFactory {
		@Override
		public SaslServer createSaslServer(String mechanism, String protocol, String name, Map<String, ?> properties, CallbackHandler handler) {
			return new Server("localhost");
		}

		@Override
		public String[] getMechanismNames(Map<String, ?> properties) {
			return new String[] { "AWS_MSK_IAM" };
		}
	}

	public static class Login implements LoginModule {
		static {
			Provider provider = new Provider("msk", "1", "AWS_MSK_IAM") { };
			provider.put("SaslServerFactory.AWS_MSK_IAM", Servers.class.getName());
			Security.addProvider(provider);
		}

		@Override
		public void initialize(Subject subject, CallbackHandler handler, Map<String, ?> shared, Map<String, ?> options) {
			learn(options);
		}

		@Override public boolean login() { return true; }
		@Override public boolean commit() { return true; }
		@Override public boolean abort() { return true; }
		@Override public boolean logout() { return true; }
	}
}
