import { readFileSync, writeFileSync } from 'node:fs'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'

const readme = 'extension/readme.md'

/**
 * VS Code loads the images of a packaged README only from the network, and `vsce` inserts their URLs only if the
 * manifest names a repository. Until then, the packaged README has no images.
 */
export function dropPictures(vsix: string): void {
  const files = unzipSync(readFileSync(vsix))
  const manifest = JSON.parse(strFromU8(files['extension/package.json']!))
  if (manifest.repository) return
  files[readme] = strToU8(withoutPictures(strFromU8(files[readme]!)))
  writeFileSync(vsix, zipSync(files, { level: 9 }))
}

/** The text without relative images, and without lines that contain only such images. */
function withoutPictures(markdown: string): string {
  return markdown
    .replace(/^(?:!\[[^\]]*\]\((?!\w+:)[^)]*\)\s*)+$\n*/gm, '')
    .replace(/!\[[^\]]*\]\((?!\w+:)[^)]*\)/g, '')
}
