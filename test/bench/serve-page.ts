import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { type BuildOptions, build } from 'esbuild'

/** Bundles a page like the extension, and serves it with `html` as its document. The files have the names of their entry points. */
export async function servePage(
  entryPoints: NonNullable<BuildOptions['entryPoints']>,
  html: string,
): Promise<{ url: string; close(): void }> {
  const { outputFiles } = await build({
    entryPoints,
    outdir: '/',
    bundle: true,
    splitting: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'chrome128',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.ttf': 'empty', '.woff2': 'empty', '.woff': 'empty' },
    logLevel: 'error',
  })
  const files = new Map(outputFiles.map(({ path: file, contents }) => [path.basename(file), contents]))
  const server = createServer((request, response) => {
    const name = path.basename(request.url ?? '')
    const body = name === '' ? html : files.get(name)
    const type = name === '' ? 'text/html' : name.endsWith('.css') ? 'text/css' : 'text/javascript'
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.close(),
  }
}
