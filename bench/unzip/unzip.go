// unzip: the Go program of Bengtsson (2017). It unzips an archive to a folder, or hashes its members.
//
//	unzip extract ARCHIVE FOLDER
//	unzip sha1 ARCHIVE
//
// As in the article, the archive is read into memory first. `sha1` prints the SHA-1 of the
// archive and the SHA-1 over the members' sorted SHA-1s, as bucketsum computes them.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

func main() {
	content, err := os.ReadFile(os.Args[2])
	check(err)
	reader, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	check(err)
	if os.Args[1] == "extract" {
		extract(reader, os.Args[3])
		return
	}
	sum := sha1.Sum(content)
	fmt.Println(hex.EncodeToString(sum[:]), membersSha1(reader))
}

func extract(reader *zip.Reader, folder string) {
	for _, file := range reader.File {
		path := filepath.Join(folder, file.Name)
		if !strings.HasPrefix(path, filepath.Clean(folder)+string(os.PathSeparator)) {
			check(fmt.Errorf("%s is outside of the folder", file.Name))
		}
		if file.FileInfo().IsDir() {
			check(os.MkdirAll(path, 0o755))
			continue
		}
		check(os.MkdirAll(filepath.Dir(path), 0o755))
		target, err := os.Create(path)
		check(err)
		check(copyMember(target, file))
		check(target.Close())
	}
}

func membersSha1(reader *zip.Reader) string {
	var sums []string
	for _, file := range reader.File {
		if file.FileInfo().IsDir() {
			continue
		}
		digest := sha1.New()
		check(copyMember(digest, file))
		sums = append(sums, hex.EncodeToString(digest.Sum(nil))+"\n")
	}
	sort.Strings(sums)
	sum := sha1.Sum([]byte(strings.Join(sums, "")))
	return hex.EncodeToString(sum[:])
}

func copyMember(target io.Writer, file *zip.File) error {
	source, err := file.Open()
	if err != nil {
		return err
	}
	defer source.Close()
	_, err = io.Copy(target, source)
	return err
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
