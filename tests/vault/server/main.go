// SPDX-License-Identifier: Apache-2.0

// A Vault server for tests: Vault's own core, HTTP interface, key-value and PKI
// engines and kubernetes login, as released, without the dozens of plugins that
// make the whole program large. All is kept in memory. It is initialised and
// unsealed when it starts, with a root token from the command line.
//
//	vault-server -listen 127.0.0.1:0 -root-token T [-cert F -key F]
//
// Prints its URL on one line when it answers, and ends on TERM. The key that
// unseals it again is kept with -unseal-key-file.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	kubeauth "github.com/hashicorp/vault-plugin-auth-kubernetes"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/builtin/logical/pki"
	"github.com/hashicorp/vault/command/server"
	"github.com/hashicorp/vault/helper/namespace"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

var (
	listen     = flag.String("listen", "127.0.0.1:0", "address to listen on")
	rootToken  = flag.String("root-token", "root", "the root token")
	certFile   = flag.String("cert", "", "certificate to serve HTTPS with")
	keyFile    = flag.String("key", "", "its key")
	unsealFile = flag.String("unseal-key-file", "", "where to write the key that unseals it, in hexadecimal")
	logLevel   = flag.String("log-level", "warn", "trace, debug, info, warn or error")
)

// noPlugins is a catalog of plugins with nothing in it: all there is is linked.
type noPlugins struct{}

func (noPlugins) Contains(string, consts.PluginType) bool { return false }
func (noPlugins) Get(string, consts.PluginType) (func() (interface{}, error), bool) {
	return nil, false
}
func (noPlugins) Keys(consts.PluginType) []string                   { return nil }
func (noPlugins) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }
func (noPlugins) DeprecationStatus(string, consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, true
}

func newCore() (*vault.Core, error) {
	logger := hclog.New(&hclog.LoggerOptions{Name: "vault", Level: hclog.LevelFromString(*logLevel), Output: os.Stderr})
	storage, err := inmem.NewInmem(nil, logger)
	if err != nil {
		return nil, err
	}
	return vault.NewCore(&vault.CoreConfig{
		Physical:        storage,
		StorageType:     "inmem",
		Logger:          logger,
		DisableMlock:    true,
		BuiltinRegistry: noPlugins{},
		LogicalBackends: map[string]logical.Factory{"kv": kv.Factory, "pki": pki.Factory, "leased": vault.LeasedPassthroughBackendFactory},
		CredentialBackends: map[string]logical.Factory{
			"kubernetes": kubeauth.Factory,
		},
		RawConfig: &server.Config{SharedConfig: &configutil.SharedConfig{}},
	})
}

// open initialises the core, unseals it and makes the root token.
func open(core *vault.Core) error {
	ctx := namespace.RootContext(context.Background())
	one := vault.SealConfig{SecretShares: 1, SecretThreshold: 1}
	made, err := core.Initialize(ctx, &vault.InitParams{BarrierConfig: &one})
	if err != nil {
		return err
	}
	key := made.SecretShares[0]
	if *unsealFile != "" {
		if err := os.WriteFile(*unsealFile, []byte(hex.EncodeToString(key)), 0o600); err != nil {
			return err
		}
	}
	if unsealed, err := core.Unseal(append([]byte(nil), key...)); err != nil || !unsealed {
		return fmt.Errorf("unsealing: %v", err)
	}
	answer, err := core.HandleRequest(ctx, &logical.Request{
		ID:          "test-root-token",
		Operation:   logical.UpdateOperation,
		ClientToken: made.RootToken,
		Path:        "auth/token/create",
		Data:        map[string]interface{}{"id": *rootToken, "policies": []string{"root"}, "no_parent": true},
	})
	if err == nil && (answer == nil || answer.Auth == nil) {
		err = errors.New("no answer")
	}
	if err != nil {
		return fmt.Errorf("making the root token: %w", err)
	}
	return nil
}

func serve(core *vault.Core) error {
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	handler := vaulthttp.Handler.Handler(&vault.HandlerProperties{
		Core:           core,
		ListenerConfig: &configutil.Listener{Address: listener.Addr().String()},
	})
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-ended
		s.Close()
	}()
	if *certFile == "" {
		fmt.Printf("http://%s\n", listener.Addr())
		err = s.Serve(listener)
	} else {
		fmt.Printf("https://%s\n", listener.Addr())
		err = s.ServeTLS(listener, *certFile, *keyFile)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("vault-server: ")
	flag.Parse()
	core, err := newCore()
	if err == nil {
		err = open(core)
	}
	if err == nil {
		err = serve(core)
	}
	if err != nil {
		log.Fatal(err)
	}
}
