// A stand-in for the plugin pulumi-resource-kubernetes, for tests on machines that can't fetch the official one. It takes the
// same tokens and inputs, applies them server-side with strict field validation, and asks the server in a preview, too. It
// does not wait for pods, knows no charts or manifests in files, and gives generated names to nothing.
package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"rabbitmq-delay/toolchain/pulumi-stand-ins/serve"
)

const (
	name         = "kubernetes"
	fieldManager = "pulumi-stand-in"
)

type server struct {
	serve.Base
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func main() {
	serve.Main(&server{Base: serve.Base{Name: name}})
}

// Configure takes a kubeconfig as text or as a path, and a context; else what kubectl would take.
func (s *server) Configure(_ context.Context, request *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	given := func(key string) string { return request.GetVariables()["kubernetes:config:"+key] }
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	overrides := &clientcmd.ConfigOverrides{CurrentContext: given("context")}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if kubeconfig := given("kubeconfig"); strings.Contains(kubeconfig, "\n") || strings.HasPrefix(kubeconfig, "{") {
		parsed, err := clientcmd.Load([]byte(kubeconfig))
		if err != nil {
			return nil, err
		}
		loader = clientcmd.NewDefaultClientConfig(*parsed, overrides)
	} else if kubeconfig != "" {
		rules.ExplicitPath = kubeconfig
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 100, 200
	if s.client, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	s.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	return &pulumirpc.ConfigureResponse{AcceptSecrets: true, SupportsPreview: true}, nil
}

// Diff plans a replacement for another name, namespace or kind, and for what the server refuses to change.
func (s *server) Diff(ctx context.Context, request *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	olds, err := open(request.GetOldInputs())
	if err != nil {
		return nil, err
	}
	news, err := open(request.GetNews())
	if err != nil {
		return nil, err
	}
	difference := olds.Diff(news)
	if difference == nil {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
	}
	response := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_SOME, DeleteBeforeReplace: true}
	for _, key := range difference.ChangedKeys() {
		response.Diffs = append(response.Diffs, string(key))
	}
	if identity(olds) != identity(news) {
		response.Replaces = append(response.Replaces, "metadata")
	} else if !news.ContainsUnknowns() {
		_, err := s.apply(ctx, news, true)
		if apierrors.IsInvalid(err) {
			response.Replaces = append(response.Replaces, response.Diffs...)
		}
	}
	return response, nil
}

func (s *server) Create(ctx context.Context, request *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	inputs, outputs, err := s.write(ctx, request.GetProperties(), request.GetPreview())
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CreateResponse{Id: idOf(inputs), Properties: outputs}, nil
}

func (s *server) Update(ctx context.Context, request *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	_, outputs, err := s.write(ctx, request.GetNews(), request.GetPreview())
	if err != nil {
		return nil, err
	}
	return &pulumirpc.UpdateResponse{Properties: outputs}, nil
}

func (s *server) Read(ctx context.Context, request *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	inputs, err := open(request.GetInputs())
	if err != nil {
		return nil, err
	}
	if len(inputs) == 0 {
		inputs = inputsOfRead(resource.URN(request.GetUrn()), request.GetId())
	}
	client, err := s.clientFor(inputs)
	if err != nil {
		return nil, err
	}
	object, err := client.Get(ctx, nameOf(inputs), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &pulumirpc.ReadResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	outputs, err := outputsOf(inputs, object.Object)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ReadResponse{Id: request.GetId(), Properties: outputs, Inputs: request.GetInputs()}, nil
}

// inputsOfRead are what a program that only reads an object has not given: its kind by the token, its name by the id.
func inputsOfRead(urn resource.URN, id string) resource.PropertyMap {
	parts := strings.Split(string(urn.Type()), ":")
	namespace, name, isNamespaced := strings.Cut(id, "/")
	if !isNamespaced {
		namespace, name = "", id
	}
	return resource.NewPropertyMapFromMap(map[string]any{
		"apiVersion": strings.TrimPrefix(parts[1], "core/"),
		"kind":       parts[2],
		"metadata":   map[string]any{"name": name, "namespace": namespace},
	})
}

func (s *server) Delete(ctx context.Context, request *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	inputs, err := open(request.GetOldInputs())
	if err != nil {
		return nil, err
	}
	client, err := s.clientFor(inputs)
	if err != nil {
		return nil, err
	}
	policy := metav1.DeletePropagationBackground
	err = client.Delete(ctx, nameOf(inputs), metav1.DeleteOptions{PropagationPolicy: &policy})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// write applies, or in a preview asks the server whether it would take it; what is not known yet can't be asked, nor what
// belongs into a namespace that the same update makes.
func (s *server) write(
	ctx context.Context, properties *structpb.Struct, preview bool,
) (resource.PropertyMap, *structpb.Struct, error) {
	inputs, err := open(properties)
	if err != nil {
		return nil, nil, err
	}
	var object map[string]any
	if !preview || !inputs.ContainsUnknowns() {
		object, err = s.apply(ctx, inputs, preview)
		if preview && apierrors.IsNotFound(err) {
			object, err = nil, nil
		}
		if err != nil {
			return nil, nil, status.Errorf(codes.InvalidArgument, "%s: %v", idOf(inputs), err)
		}
	}
	outputs, err := outputsOf(inputs, object)
	return inputs, outputs, err
}

func (s *server) apply(ctx context.Context, inputs resource.PropertyMap, dryRun bool) (map[string]any, error) {
	client, err := s.clientFor(inputs)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(inputs.Mappable())
	if err != nil {
		return nil, err
	}
	force := true
	options := metav1.PatchOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict, Force: &force}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	object, err := client.Patch(ctx, nameOf(inputs), types.ApplyPatchType, body, options)
	if err != nil {
		return nil, err
	}
	return object.Object, nil
}

func (s *server) clientFor(inputs resource.PropertyMap) (dynamic.ResourceInterface, error) {
	group, err := schema.ParseGroupVersion(text(inputs, "apiVersion"))
	if err != nil {
		return nil, err
	}
	mapping, err := s.mapper.RESTMapping(schema.GroupKind{Group: group.Group, Kind: text(inputs, "kind")}, group.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == "namespace" {
		return s.client.Resource(mapping.Resource).Namespace(namespaceOf(inputs)), nil
	}
	return s.client.Resource(mapping.Resource), nil
}

// outputsOf are what the server has, secret where the object is one; its bookkeeping of field owners left out.
func outputsOf(inputs resource.PropertyMap, object map[string]any) (*structpb.Struct, error) {
	result := inputs.Copy()
	if object != nil {
		unstructured.RemoveNestedField(object, "metadata", "managedFields")
		result = resource.NewPropertyMapFromMap(object)
	}
	if text(inputs, "kind") == "Secret" {
		for _, key := range []resource.PropertyKey{"data", "stringData"} {
			if value, ok := result[key]; ok && !value.IsSecret() {
				result[key] = resource.MakeSecret(value)
			}
		}
	}
	return plugin.MarshalProperties(result, plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true})
}

func open(properties *structpb.Struct) (resource.PropertyMap, error) {
	return plugin.UnmarshalProperties(properties, plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: false, SkipNulls: true})
}

func text(inputs resource.PropertyMap, path ...resource.PropertyKey) string {
	value := resource.NewObjectProperty(inputs)
	for _, key := range path {
		if !value.IsObject() {
			return ""
		}
		value = value.ObjectValue()[key]
	}
	if value.IsString() {
		return value.StringValue()
	}
	return ""
}

func nameOf(inputs resource.PropertyMap) string { return text(inputs, "metadata", "name") }

func namespaceOf(inputs resource.PropertyMap) string {
	if namespace := text(inputs, "metadata", "namespace"); namespace != "" {
		return namespace
	}
	return metav1.NamespaceDefault
}

func idOf(inputs resource.PropertyMap) string { return namespaceOf(inputs) + "/" + nameOf(inputs) }

func identity(inputs resource.PropertyMap) string {
	return strings.Join([]string{text(inputs, "apiVersion"), text(inputs, "kind"), idOf(inputs)}, " ")
}
