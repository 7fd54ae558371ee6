import { readFileSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { deflateAsync } from '@gfx/zopfli'
import { strFromU8, strToU8, unzipSync, Zip, type ZipInputFile } from 'fflate'
import { keptFile, keptFolder } from './kept-file.mjs'
import { withoutPictures } from './without-pictures.ts'

const readme = 'extension/readme.md'
/** The time of all files, so that the same files are the same VSIX: the first that an archive can have, in local time. */
const mtime = new Date(1980, 0, 1)

/**
 * Compresses the VSIX's files again, as tightly as their format allows, and in the order of their names. VS Code loads the images of a packaged README
 * only from the network (1.103 to 1.139 remove every source but http and https, also data URLs), and `vsce` inserts their
 * URLs only if the manifest names a repository; until then, the packaged README has no images, and the help has them.
 */
export async function packTightly(vsix: string): Promise<void> {
  const files = unzipSync(readFileSync(vsix))
  const manifest = JSON.parse(strFromU8(files['extension/package.json']!))
  if (!manifest.repository) files[readme] = strToU8(withoutPictures(strFromU8(files[readme]!)))
  const chunks: Uint8Array[] = []
  const archive = new Zip((error, chunk) => {
    if (error) throw error
    chunks.push(chunk)
  })
  for (const filename of Object.keys(files).sort()) {
    const bytes = files[filename]!
    const file: ZipInputFile = { filename, mtime, size: bytes.length, crc: crc32(bytes), compression: 8 }
    archive.add(file)
    file.ondata!(null, await deflate(bytes), true)
  }
  archive.end()
  writeFileSync(vsix, Buffer.concat(chunks))
}

/** By Zopfli, which saves 4% and, unlike zlib, is the same in every version of Node. It takes a second for 300 kB. */
async function deflate(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const tight = () => deflateAsync(bytes, { numiterations: 1 })
  return new Uint8Array(await keptFile(keptFolder, ['zopfli 1', bytes], tight))
}
