// The Pulumi provider for RabbitMQ, built over the same upstream provider and with the same tokens as the published plugin.
package main

import (
	rabbitmq "github.com/terraform-providers/terraform-provider-rabbitmq/rabbitmq"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	shimv2 "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
)

// version must equal that of the npm package @pulumi/rabbitmq.
const version = "3.3.8"

func environmentDefault(variables ...string) *tfbridge.SchemaInfo {
	return &tfbridge.SchemaInfo{Default: &tfbridge.DefaultInfo{EnvVars: variables}}
}

func provider() tfbridge.ProviderInfo {
	resources := map[string]string{
		"rabbitmq_binding":             "Binding",
		"rabbitmq_exchange":            "Exchange",
		"rabbitmq_federation_upstream": "FederationUpstream",
		"rabbitmq_operator_policy":     "OperatorPolicy",
		"rabbitmq_permissions":         "Permissions",
		"rabbitmq_policy":              "Policy",
		"rabbitmq_queue":               "Queue",
		"rabbitmq_shovel":              "Shovel",
		"rabbitmq_topic_permissions":   "TopicPermissions",
		"rabbitmq_user":                "User",
		"rabbitmq_vhost":               "VHost",
	}
	info := tfbridge.ProviderInfo{
		P:            shimv2.NewProvider(rabbitmq.Provider()),
		Name:         "rabbitmq",
		Version:      version,
		MetadataInfo: tfbridge.NewProviderMetadata([]byte("{}")),
		Config: map[string]*tfbridge.SchemaInfo{
			"insecure":    environmentDefault("RABBITMQ_INSECURE"),
			"cacert_file": environmentDefault("RABBITMQ_CACERT"),
		},
		Resources: map[string]*tfbridge.ResourceInfo{},
	}
	for name, token := range resources {
		info.Resources[name] = &tfbridge.ResourceInfo{Tok: tfbridge.MakeResource("rabbitmq", "index", token)}
	}
	info.SetAutonaming(255, "-")
	return info
}

func main() {
	tfbridge.Main("rabbitmq", version, provider(), []byte(`{"name":"rabbitmq","version":"`+version+`"}`))
}
