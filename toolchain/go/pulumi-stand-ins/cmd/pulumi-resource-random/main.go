// A stand-in for the plugin pulumi-resource-random, for tests on machines that can't fetch the official one. It knows
// RandomPassword with its length and without special characters, and RandomUuid; the components use no others.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"rabbitmq-delay/toolchain/pulumi-stand-ins/serve"
)

const (
	name     = "random"
	password = "random:index/randomPassword:RandomPassword"
	uuid     = "random:index/randomUuid:RandomUuid"
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

type server struct {
	serve.Base
}

func main() {
	serve.Main(&server{Base: serve.Base{Name: name}})
}

func (s *server) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{AcceptSecrets: true, SupportsPreview: true}, nil
}

func (s *server) Check(_ context.Context, request *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	if got := string(resource.URN(request.GetUrn()).Type()); got != password && got != uuid {
		return nil, status.Errorf(codes.Unimplemented, "this stand-in makes passwords and UUIDs alone, not %s", got)
	}
	return &pulumirpc.CheckResponse{Inputs: request.GetNews()}, nil
}

// Diff: another rule or keeper makes another value, as with the official plugin.
func (s *server) Diff(_ context.Context, request *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	olds, err := plugin.UnmarshalProperties(request.GetOldInputs(), plugin.MarshalOptions{SkipNulls: true})
	if err != nil {
		return nil, err
	}
	news, err := plugin.UnmarshalProperties(request.GetNews(), plugin.MarshalOptions{SkipNulls: true})
	if err != nil {
		return nil, err
	}
	difference := olds.Diff(news)
	if difference == nil {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
	}
	response := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_SOME}
	for _, key := range difference.ChangedKeys() {
		response.Diffs = append(response.Diffs, string(key))
		response.Replaces = append(response.Replaces, string(key))
	}
	return response, nil
}

func (s *server) Create(_ context.Context, request *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	inputs, err := plugin.UnmarshalProperties(request.GetProperties(), plugin.MarshalOptions{KeepUnknowns: true, SkipNulls: true})
	if err != nil {
		return nil, err
	}
	outputs := inputs.Copy()
	isUuid := string(resource.URN(request.GetUrn()).Type()) == uuid
	result := resource.MakeComputed(resource.NewStringProperty(""))
	if !request.GetPreview() {
		value, err := drawUuid()
		if !isUuid {
			value, err = draw(int(inputs["length"].NumberValue()))
		}
		if err != nil {
			return nil, err
		}
		result = resource.NewStringProperty(value)
	}
	if !isUuid {
		result = resource.MakeSecret(result)
	}
	outputs["result"] = result
	properties, err := plugin.MarshalProperties(outputs, plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true})
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CreateResponse{Id: "none", Properties: properties}, nil
}

func (s *server) Read(_ context.Context, request *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	return &pulumirpc.ReadResponse{Id: request.GetId(), Properties: request.GetProperties(), Inputs: request.GetInputs()}, nil
}

func (s *server) Delete(context.Context, *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// A UUID of version 4.
func drawUuid() (string, error) {
	var octets [16]byte
	if _, err := rand.Read(octets[:]); err != nil {
		return "", err
	}
	octets[6] = octets[6]&0x0f | 0x40
	octets[8] = octets[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", octets[0:4], octets[4:6], octets[6:8], octets[8:10], octets[10:16]), nil
}

func draw(length int) (string, error) {
	characters := make([]byte, length)
	for index := range characters {
		chosen, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", err
		}
		characters[index] = alphabet[chosen.Int64()]
	}
	return string(characters), nil
}
