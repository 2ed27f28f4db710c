/* SPDX-License-Identifier: Apache-2.0 */

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import javax.management.ObjectName;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/*
 * A Kafka broker for tests, and hands that make topics, messages and commits, in one process: each
 * start of a JVM takes seconds. Started as Broker CONFIG CLUSTER-ID ADDRESS; formats the broker's
 * directory when it is new, runs the broker, and does what its standard input says, a command a
 * line; each is answered by a line "hands: ok ..." or "hands: failed ...", the start by "hands: ready".
 * It ends with its input. Broker --learn DIRECTORY: see learn().
 */
public class Broker {
	private static final PrintStream out = System.out;
	private static Admin admin;
	private static KafkaProducer<byte[], byte[]> producer;

	/* With a new look for the coordinator each time: a call waits in vain for one that died meanwhile. */
	private static void commit(String group, Map<TopicPartition, OffsetAndMetadata> offsets) throws Exception {
		for (int attempt = 1;; attempt++) {
			try {
				var options = new AlterConsumerGroupOffsetsOptions().timeoutMs(3000);
				admin.alterConsumerGroupOffsets(group, offsets, options).all().get();
				return;
			} catch (ExecutionException e) {
				if (!(e.getCause() instanceof TimeoutException) || attempt == 30)
					throw e;
			}
		}
	}

	private static Properties client(String address) {
		Properties p = new Properties();
		p.put("bootstrap.servers", address);
		p.put("default.api.timeout.ms", "60000");
		p.put("request.timeout.ms", "3000"); /* a broker may be frozen */
		return p;
	}

	/* Without a producer ID: a broker that lost its call to the controller for a block of them has none to give for minutes. */
	private static Properties producing(String address) {
		Properties p = client(address);
		p.put("enable.idempotence", "false");
		p.put("delivery.timeout.ms", "60000");
		return p;
	}

	private static void produce(String topic, int partition, int count) throws Exception {
		ArrayList<Future<RecordMetadata>> sent = new ArrayList<>();

		for (int i = 0; i < count; i++)
			sent.add(producer.send(new ProducerRecord<>(topic, partition, null, new byte[] { 'x' })));
		producer.flush();
		for (Future<RecordMetadata> one : sent)
			one.get();
	}

	private static void user(String name, String password) throws Exception {
		for (ScramMechanism m : List.of(ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512))
			admin.alterUserScramCredentials(List.of(
				new UserScramCredentialUpsertion(name, new ScramCredentialInfo(m, 4096), password))).all().get();
	}

	private static void deny(String user, String kind, String name) throws Exception {
		ResourceType type = kind.equals("group") ? ResourceType.GROUP : ResourceType.TOPIC;
		admin.createAcls(List.of(new AclBinding(new ResourcePattern(type, name, PatternType.LITERAL),
			new AccessControlEntry("User:" + user, "*", AclOperation.DESCRIBE, AclPermissionType.DENY)))).all().get();
	}

	private static String obey(String[] w) throws Exception {
		switch (w[0]) {
		case "topic": { /* NAME PARTITIONS REPLICAS */
			admin.createTopics(List.of(new NewTopic(w[1], Integer.parseInt(w[2]), Short.parseShort(w[3])))).all().get();
			return "";
		}
		case "topics": { /* PREFIX COUNT PARTITIONS */
			ArrayList<NewTopic> all = new ArrayList<>();
			for (int i = 0; i < Integer.parseInt(w[2]); i++)
				all.add(new NewTopic(w[1] + i, Integer.parseInt(w[3]), (short)1));
			admin.createTopics(all).all().get();
			return "";
		}
		case "partitions": /* TOPIC COUNT */
			admin.createPartitions(Map.of(w[1], NewPartitions.increaseTo(Integer.parseInt(w[2])))).all().get();
			return "";
		case "drop": /* TOPIC */
			admin.deleteTopics(List.of(w[1])).all().get();
			return "";
		case "produce": /* TOPIC PARTITION COUNT */
			produce(w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]));
			return "";
		case "commit": { /* GROUP TOPIC OFFSET...: of each partition; "-": nothing */
			Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
			for (int p = 0; p < w.length - 3; p++)
				if (!w[p + 3].equals("-"))
					offsets.put(new TopicPartition(w[2], p), new OffsetAndMetadata(Long.parseLong(w[p + 3])));
			commit(w[1], offsets);
			return "";
		}
		case "commits": { /* PREFIX COUNT TOPIC-PREFIX TOPICS PARTITIONS: as many groups, offset 0 in all of a topic */
			for (int i = 0; i < Integer.parseInt(w[2]); i++) {
				Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
				for (int p = 0; p < Integer.parseInt(w[5]); p++)
					offsets.put(new TopicPartition(w[3] + i % Integer.parseInt(w[4]), p), new OffsetAndMetadata(0));
				commit(w[1] + i, offsets);
			}
			return "";
		}
		case "requests": { /* NAME: how many there were so far */
			var server = ManagementFactory.getPlatformMBeanServer();
			long count = 0;
			for (ObjectName name : server.queryNames(
				new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,request=" + w[1] + ",*"), null))
				count += (Long)server.getAttribute(name, "Count");
			return "" + count;
		}
		case "forget": /* GROUP */
			admin.deleteConsumerGroups(List.of(w[1])).all().get();
			return "";
		case "trim": /* TOPIC PARTITION OFFSET: the log begins there */
			admin.deleteRecords(Map.of(new TopicPartition(w[1], Integer.parseInt(w[2])),
				RecordsToDelete.beforeOffset(Long.parseLong(w[3])))).all().get();
			return "";
		case "lead": { /* TOPIC PARTITION BROKER [OTHER...]: the first replica, elected */
			TopicPartition tp = new TopicPartition(w[1], Integer.parseInt(w[2]));
			ArrayList<Integer> replicas = new ArrayList<>();
			for (int i = 3; i < w.length; i++)
				replicas.add(Integer.parseInt(w[i]));
			admin.alterPartitionReassignments(Map.of(tp, Optional.of(new NewPartitionReassignment(replicas)))).all().get();
			while (!admin.listPartitionReassignments(Set.of(tp)).reassignments().get().isEmpty())
				Thread.sleep(50);
			try {
				admin.electLeaders(ElectionType.PREFERRED, Set.of(tp)).partitions().get();
			} catch (ExecutionException e) {
				return e.getCause().getMessage(); /* it leads already */
			}
			return "";
		}
		case "leader": /* TOPIC PARTITION */
			return "" + admin.describeTopics(List.of(w[1])).allTopicNames().get().get(w[1]).partitions()
				.get(Integer.parseInt(w[2])).leader().id();
		case "user": /* NAME PASSWORD */
			user(w[1], w[2]);
			return "";
		case "deny": /* USER topic|group NAME */
			deny(w[1], w[2], w[3]);
			return "";
		default:
			throw new IllegalArgumentException(w[0]);
		}
	}

	private static void listen(String address) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		String line;

		admin = Admin.create(client(address));
		producer = new KafkaProducer<>(producing(address), new ByteArraySerializer(), new ByteArraySerializer());
		admin.describeCluster().nodes().get();
		out.println("hands: ready");
		while ((line = in.readLine()) != null) {
			try {
				out.println("hands: ok " + obey(line.split(" ")));
			} catch (ExecutionException e) {
				out.println("hands: failed " + String.valueOf(e.getCause()).replace('\n', ' '));
			} catch (Exception e) {
				out.println("hands: failed " + String.valueOf(e).replace('\n', ' '));
			}
			out.flush();
		}
	}

	private static int freePort() throws Exception {
		try (var socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
	}

	/* For tests/kafka/build: a broker that has done a little of all, and whose classes are known then. */
	private static void learn(Path dir) throws Exception {
		int port = freePort(), controller = freePort();
		Path config = dir.resolve("config");

		Files.writeString(config, String.join("\n", "node.id=1", "process.roles=broker,controller",
			"controller.quorum.voters=1@localhost:" + controller, "controller.listener.names=CONTROLLER",
			"listeners=PLAIN://localhost:" + port + ",CONTROLLER://localhost:" + controller,
			"listener.security.protocol.map=PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT", "inter.broker.listener.name=PLAIN",
			"log.dirs=" + dir.resolve("data"), "offsets.topic.replication.factor=1", "offsets.topic.num.partitions=1",
			"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"super.users=User:ANONYMOUS", ""));
		System.setIn(new ByteArrayInputStream("topic t 1 1\nproduce t 0 1\ncommit g t 0\nuser u p\ndrop t\n".getBytes()));
		main(new String[] { config.toString(), "kscaled-tests-0000000A", "localhost:" + port });
	}

	public static void main(String[] args) throws Exception {
		Properties config = new Properties();

		if (args[0].equals("--learn")) {
			learn(Path.of(args[1]));
			return;
		}
		try (var reader = Files.newBufferedReader(Path.of(args[0]))) {
			config.load(reader);
		}
		if (!Files.exists(Path.of(config.getProperty("log.dirs"), "meta.properties")) &&
			kafka.tools.StorageTool.execute(new String[] { "format", "-t", args[1], "-c", args[0] }, System.err) != 0)
			System.exit(1);
		Thread broker = new Thread(() -> kafka.Kafka.main(new String[] { args[0] }), "broker");
		broker.setDaemon(true);
		broker.start();
		listen(args[2]);
		System.exit(0);
	}
}
