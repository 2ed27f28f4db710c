// SPDX-License-Identifier: Apache-2.0

// One program that is etcd, any of Kubernetes' own, or kwok, by the name that it is called by. What
// they share, client-go above all, is compiled and linked once.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // for the time zones of CronJobs

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // for kubectl
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app/cmd"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	kwoksignals "sigs.k8s.io/kwok/pkg/utils/signals"
)

// Each function does what the main of that program does in its release.
var programs = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"kube-controller-manager": func() { os.Exit(cli.Run(controllermanager.NewControllerManagerCommand())) },
	"kube-proxy":              func() { os.Exit(cli.Run(proxy.NewProxyCommand())) },
	"kube-scheduler":          func() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) },
	"kubeadm":                 runKubeadm,
	"kubectl":                 runKubectl,
	"kubelet":                 func() { os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background()))) },
	"kwok":                    runKwok,
}

func main() {
	name := filepath.Base(os.Args[0])
	run, known := programs[name]
	if !known {
		fmt.Fprintf(os.Stderr, "%s: call this by one of the names %s\n", name,
			strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		os.Exit(2)
	}
	run()
}

func runKubectl() {
	logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)) // before cobra reads the flags
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

// Without klog's flags, which Kubernetes' other packages have registered.
func runKubeadm() {
	kubeadmerrors.HandleError(kubeadm.NewKubeadmCommand(os.Stdin, os.Stdout, os.Stderr).Execute())
}

func runKwok() {
	// Cobra adds what Kubernetes' packages have registered, and stumbles over their --version.
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)

	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}

	ctx, logger := kwoklog.InitFlags(kwoksignals.SetupSignalContext(), flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err == nil {
		command := kwok.NewCommand(ctx)
		command.PersistentFlags().AddFlagSet(flags)
		err = command.ExecuteContext(ctx)
	}
	if err != nil {
		logger.Error("Exit", "err", err)
		os.Exit(1)
	}
}
