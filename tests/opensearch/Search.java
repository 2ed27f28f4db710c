/* SPDX-License-Identifier: Apache-2.0 */

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.script.mustache.MustachePlugin;
import org.opensearch.transport.Netty4Plugin;

/*
 * An OpenSearch of one node for tests, with search templates. Started as Search DIRECTORY PORT PORT: what it writes,
 * where it is asked (HTTP), and where other nodes would be. It says "search: ready" and ends with its input.
 */
public class Search extends Node {
	private Search(Settings settings) {
		super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "tests"),
			List.<Class<? extends Plugin>>of(Netty4Plugin.class, MustachePlugin.class), true);
	}

	public static void main(String[] args) throws Exception {
		Settings settings = Settings.builder()
			.put("path.home", args[0])
			.put("http.port", args[1])
			.put("transport.port", args[2])
			.put("network.host", "127.0.0.1")
			.put("cluster.name", "tests")
			.put("discovery.type", "single-node")
			.put("http.type", "netty4")
			.put("transport.type", "netty4")
			.put("node.processors", 2)
			/* a full disk of the machine is nothing to a test */
			.put("cluster.routing.allocation.disk.threshold_enabled", false)
			.build();

		Files.createDirectories(Path.of(args[0], "data"));
		Node node = new Search(settings).start();
		System.out.println("search: ready");
		while (System.in.read() >= 0)
			;
		node.close();
		System.exit(0);
	}
}
