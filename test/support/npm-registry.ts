import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Header } from 'tar'
import type { SelfSigned } from './certificate.ts'
import { LoopbackServer } from './loopback-server.ts'

export interface FakePackage {
  name: string
  version: string
  bin?: string | Record<string, string>
  engines?: { node?: string }
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  files: Record<string, string>
}

/** A package registry on loopback that can do what `npm install` needs. */
export class NpmRegistry {
  readonly server: LoopbackServer
  readonly #packages = new Map<string, { about: FakePackage; tarball: Buffer }>()
  /** Requests wait until this resolves. */
  gate: Promise<void> = Promise.resolve()

  private constructor(server: LoopbackServer) {
    this.server = server
  }

  static async start(certificate?: SelfSigned): Promise<NpmRegistry> {
    let registry: NpmRegistry | undefined
    const scheme = certificate ? 'https' : 'http'
    const server = await LoopbackServer.start(async ({ url = '', headers }, response) => {
      await registry?.gate
      const path = decodeURIComponent(url)
      // the tarball's URL has the host name of the request
      const origin = `${scheme}://${headers.host}`
      for (const { about, tarball } of registry?.packages() ?? []) {
        if (path === `/${about.name}`) return void response.end(registry?.document(about.name, origin))
        if (path === `/${about.name}/-/${about.version}.tgz`) return void response.end(tarball)
      }
      response.writeHead(404).end('{"error":"not found"}')
    }, certificate)
    registry = new NpmRegistry(server)
    return registry
  }

  publish(about: FakePackage): void {
    const { files, ...manifest } = about
    const all = { 'package.json': JSON.stringify(manifest), ...files }
    const pieces = Object.entries(all).flatMap(([path, text]) => {
      const data = Buffer.from(text)
      const header = new Header({
        path: `package/${path}`,
        mode: 0o755,
        size: data.length,
        type: 'File',
        mtime: new Date(0),
      })
      const block = Buffer.alloc(512)
      header.encode(block, 0)
      return [block, data, Buffer.alloc((512 - (data.length % 512)) % 512)]
    })
    const tarball = gzipSync(Buffer.concat([...pieces, Buffer.alloc(1024)]))
    this.#packages.set(`${about.name}@${about.version}`, { about, tarball })
  }

  packages() {
    return this.#packages.values()
  }

  document(name: string, origin: string): string {
    const versions = [...this.#packages.values()]
      .filter(({ about }) => about.name === name)
      .map(({ about: { files: _, ...manifest }, tarball }) => ({
        ...manifest,
        hasInstallScript: manifest.scripts !== undefined,
        dist: {
          tarball: `${origin}/${name}/-/${manifest.version}.tgz`,
          integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
        },
      }))
    return JSON.stringify({
      name,
      'dist-tags': { latest: versions.at(-1)?.version },
      versions: Object.fromEntries(versions.map(one => [one.version, one])),
    })
  }
}
