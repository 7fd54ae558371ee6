import { readFileSync, writeFileSync } from 'node:fs'
import { crc32, deflateRawSync } from 'node:zlib'
import { deflateAsync } from '@gfx/zopfli'
import { strFromU8, strToU8, unzipSync, Zip, type ZipInputFile } from 'fflate'
import { keptFile, keptFolder } from './kept-file.mjs'
import { withoutPictures } from './without-pictures.ts'

const readme = 'extension/readme.md'
/** Zopfli saves 4%, but takes a second for 300 kB: below this size, in bytes, a file is not worth it. */
const LARGE = 20_000

/**
 * Compresses the VSIX's files again, as tightly as their format allows. VS Code loads the images of a packaged README
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
  for (const [filename, bytes] of Object.entries(files)) {
    const file: ZipInputFile = { filename, size: bytes.length, crc: crc32(bytes), compression: 8 }
    archive.add(file)
    file.ondata!(null, await deflate(bytes), true)
  }
  archive.end()
  writeFileSync(vsix, Buffer.concat(chunks))
}

async function deflate(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const quick = deflateRawSync(bytes, { level: 9, memLevel: 9 })
  // what hardly shrinks, such as a font, is compressed already
  if (bytes.length < LARGE || quick.length > bytes.length * 0.95) return quick
  const tight = () => deflateAsync(bytes, { numiterations: 1 })
  return new Uint8Array(await keptFile(keptFolder, ['zopfli 1', bytes], tight))
}
