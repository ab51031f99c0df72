// Writes the SDKs of a Pulumi package for other languages from its schema: `pulumi-sdks SCHEMA FOLDER` fills FOLDER/LANGUAGE. `pulumi
// package gen-sdk` does the same through the engine's hosts of each language; this program needs none of them.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/dotnet"
	gogen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// What the files say wrote them.
const tool = "make sdks"

// Each generator changes the package that it is given, so each gets its own.
var generators = map[string]func(*schema.Package) (map[string][]byte, error){
	"dotnet": func(p *schema.Package) (map[string][]byte, error) { return dotnet.GeneratePackage(tool, p, nil, nil) },
	"go":     func(p *schema.Package) (map[string][]byte, error) { return gogen.GeneratePackage(tool, p, nil) },
	"nodejs": func(p *schema.Package) (map[string][]byte, error) {
		files, err := nodejs.GeneratePackage(tool, p, nil, nil, false, nil)
		return withImportsFromTypes(files), err
	},
	"python": func(p *schema.Package) (map[string][]byte, error) { return python.GeneratePackage(tool, p, nil, nil) },
}

func main() {
	http.DefaultTransport = onlyLogo{}
	if len(os.Args) != 3 {
		fail("usage: pulumi-sdks SCHEMA FOLDER")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	for language, generate := range generators {
		files, err := generate(bind(text))
		if err != nil {
			fail(language, err)
		}
		for name, content := range files {
			path := filepath.Join(os.Args[2], language, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				fail(err)
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				fail(err)
			}
		}
	}
}

// The generator takes the way from `types/` to its parent from filepath.Rel, which Go 1.26 answers with `..` and no longer with `../.`; the
// generator then cuts it off. What an older Go wrote stays as it is.
func withImportsFromTypes(files map[string][]byte) map[string][]byte {
	up := strings.NewReplacer(`from "./utilities"`, `from "../utilities"`, `from "./types/`, `from "../types/`)
	for name, content := range files {
		if strings.HasPrefix(name, "types/") && strings.Count(name, "/") == 1 {
			files[name] = []byte(up.Replace(string(content)))
		}
	}
	return files
}

func bind(text []byte) *schema.Package {
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		fail(err)
	}
	bound, diagnostics, err := schema.BindSpec(spec, nil, schema.ValidationOptions{})
	if err != nil {
		fail(err)
	}
	if diagnostics.HasErrors() {
		fail(diagnostics)
	}
	return bound
}

// The generator for .NET fetches an icon for its package. Nothing else is asked for, and nothing is fetched: this is a plain square.
type onlyLogo struct{}

func (onlyLogo) RoundTrip(request *http.Request) (*http.Response, error) {
	const side = 64
	square := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.RGBA{R: 0xff, G: 0x66, A: 0xff}})
	var body bytes.Buffer
	if err := png.Encode(&body, square); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(&body), Request: request}, nil
}

func fail(what ...any) {
	fmt.Fprintln(os.Stderr, what...)
	os.Exit(1)
}
