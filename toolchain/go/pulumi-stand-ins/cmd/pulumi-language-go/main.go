// A stand-in for the host pulumi-language-go, for tests on machines that can't fetch the official one, whose module no module proxy has. It
// compiles the program in the project's folder and runs it with the variables by which Pulumi's SDK for Go finds the engine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"rabbitmq-delay/toolchain/pulumi-stand-ins/serve"
)

type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engine string
}

func main() {
	// The engine's address is the last argument; flags come before it.
	server := &host{engine: os.Args[len(os.Args)-1]}
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Init: func(registrar *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(registrar, server)
			return nil
		},
	})
	if err == nil {
		fmt.Println(handle.Port)
		err = <-handle.Done
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: serve.Version}, nil
}

// The tests' programs name their plugins in Pulumi.yaml.
func (h *host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (h *host) GetRequiredPlugins(
	context.Context, *pulumirpc.GetRequiredPluginsRequest,
) (*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{}, nil
}

func (h *host) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	folder, err := os.MkdirTemp("", "rabbitmq-delay-go-program-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "program")
	build := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-o", program, ".")
	build.Dir = request.GetInfo().GetProgramDirectory()
	if output, err := build.CombinedOutput(); err != nil {
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("go build: %v\n%s", err, output)}, nil
	}
	config, err := json.Marshal(request.GetConfig())
	if err != nil {
		return nil, err
	}
	secrets, err := json.Marshal(request.GetConfigSecretKeys())
	if err != nil {
		return nil, err
	}
	run := exec.CommandContext(ctx, program)
	run.Dir = request.GetPwd()
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	run.Env = append(os.Environ(),
		pulumi.EnvOrganization+"="+request.GetOrganization(),
		pulumi.EnvProject+"="+request.GetProject(),
		pulumi.EnvPulumiRootDirectory+"="+request.GetInfo().GetRootDirectory(),
		pulumi.EnvStack+"="+request.GetStack(),
		pulumi.EnvConfig+"="+string(config),
		pulumi.EnvConfigSecretKeys+"="+string(secrets),
		pulumi.EnvDryRun+"="+strconv.FormatBool(request.GetDryRun()),
		pulumi.EnvParallel+"="+strconv.Itoa(int(request.GetParallel())),
		pulumi.EnvMonitor+"="+request.GetMonitorAddress(),
		pulumi.EnvEngine+"="+h.engine,
	)
	var ended *exec.ExitError
	if err := run.Run(); errors.As(err, &ended) {
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("the program ended with %d", ended.ExitCode())}, nil
	} else if err != nil {
		return nil, err
	}
	return &pulumirpc.RunResponse{}, nil
}
