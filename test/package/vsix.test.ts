import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gzipSync, strFromU8, unzipSync } from 'fflate'
import { agentPresets } from '../../src/agents/presets.ts'
import { cleanIcon } from '../../src/agents/registry/agent-icons.ts'
import { projectDirectory, vsixFile } from '../host/paths.ts'
import { floor } from '../host/vscode-versions.ts'

/** How vsce changes a file of the package. */
type Processor = new (
  manifest: unknown,
  options: { githubBranch: string },
) => { onFile(file: { path: string; localPath: string }): Promise<{ contents: Buffer }> }
const vsce: Record<'ReadmeProcessor' | 'ChangelogProcessor', Processor> = createRequire(import.meta.url)(
  '@vscode/vsce/out/package.js',
)

/** All files that the package may contain, in its folder `extension/`. */
const allowed = [
  /^package(\.nls(\.[\w-]+)?)?\.json$/,
  /^l10n\/bundle\.l10n\.[\w-]+\.json$/,
  /^(readme|changelog)\.md$/,
  /^LICENSE\.txt$/,
  /^media\/[\w/-]+\.(png|svg|md)$/,
  /^media\/(registry|mcp\.schema)\.json$/,
  /^dist\/(extension\.cjs|services\.js|code-actions\.js|demo-agent\.js|search-worker\.js|process-guard\.cjs|mcp-bridge\.js)$/,
  /^dist\/chunks\/[\w.-]+\.js$/,
  /^dist\/agent-host\.mjs$/,
  /^dist\/agent-icons\.json$/,
  /^dist\/THIRD_PARTY_NOTICES\.txt$/,
  /^dist\/sbom\.cdx\.json$/,
  /^dist\/webview\/(conversation|history|agents|mcp|compare|inspector)\.js$/,
  /^dist\/webview\/(conversation|history|pages|icons|later|math)\.css$/,
  /^dist\/webview\/chunks\/[\w.-]+\.(js|css)$/,
  /^dist\/webview\/assets\/[\w.-]+\.(ttf|woff2)$/,
]

/** What the tests read of a bill of materials. */
interface Bom {
  metadata: { component: { 'bom-ref': string; version: string } }
  components: Array<{
    'bom-ref': string
    version: string
    purl: string
    hashes: Array<{ alg: string; content: string }>
    licenses: Array<{ license?: { id: string }; expression?: string }>
  }>
  dependencies: Array<{ ref: string; dependsOn: string[] }>
}

describe('the package', () => {
  const files = unzipSync(readFileSync(vsixFile))
  const names = Object.keys(files)
    .filter(name => name.startsWith('extension/'))
    .map(name => name.slice('extension/'.length))
  const text = (name: string) => strFromU8(files[`extension/${name}`]!)
  const manifest = JSON.parse(text('package.json'))

  it('contains only files that are used', () => {
    assert.deepEqual(
      names.filter(name => !allowed.some(pattern => pattern.test(name))),
      [],
    )
  })

  it('contains all files that are used', () => {
    for (const name of [
      manifest.main.replace('./', ''),
      'dist/process-guard.cjs',
      'dist/search-worker.js',
      'dist/agent-host.mjs',
      'dist/demo-agent.js',
      'dist/mcp-bridge.js',
      'dist/agent-icons.json',
      'dist/webview/conversation.js',
      'dist/webview/conversation.css',
      'dist/webview/history.js',
      'dist/webview/history.css',
      'dist/THIRD_PARTY_NOTICES.txt',
      'package.nls.json',
      'readme.md',
      'media/help/help.md',
      'changelog.md',
      'LICENSE.txt',
    ])
      assert.ok(names.includes(name), name)
  })

  it('contains the files that a page loads immediately', () => {
    const code = names.filter(name => /^dist\/(chunks\/)?[\w.-]+\.js$/.test(name)).map(text)
    const [, table] = /JSON\.parse\('(\{[^']*\})'\)/.exec(code.join('\n')) ?? []
    assert.ok(table, 'the build fills in the table')
    const pages: Record<string, string[]> = JSON.parse(table)
    assert.deepEqual(Object.keys(pages), ['conversation', 'history'])
    const files = Object.values(pages).flat()
    assert.ok(files.some(file => file.endsWith('.js')))
    assert.ok(files.some(file => file.endsWith('.woff2')))
    for (const file of files) assert.ok(names.includes(`dist/webview/${file}`), file)
  })

  it('contains every file that the manifest names', () => {
    const named = new Set<string>()
    JSON.stringify(manifest, (_key, value) => {
      if (typeof value === 'string' && /^(\.\/)?(media|dist|l10n)\//.test(value))
        named.add(value.replace('./', ''))
      return value
    })
    assert.ok(named.size > 0)
    for (const file of named) assert.ok(names.includes(file), file)
  })

  it('contains every text of the manifest', () => {
    const texts = JSON.parse(text('package.nls.json'))
    const keys = [...JSON.stringify(manifest).matchAll(/"%([\w.]+)%"/g)].map(match => match[1]!)
    assert.ok(keys.length > 0)
    assert.deepEqual(
      keys.filter(key => typeof texts[key] !== 'string'),
      [],
    )
  })

  it('has a README without broken images', () => {
    const pictures = [...text('readme.md').matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)].map(match => match[1]!)
    assert.deepEqual(
      pictures.filter(address => !address.startsWith('https://')),
      [],
    )
    assert.deepEqual(
      names.filter(name => name.startsWith('media/readme/')),
      [],
    )
    const source = readFileSync(join(projectDirectory, 'README.md'), 'utf8')
    for (const [, file] of source.matchAll(/!\[[^\]]*\]\((media\/[^)]*)\)/g))
      assert.ok(existsSync(join(projectDirectory, file!)), `README.md shows ${file}, which is not there`)
  })

  for (const [file, Processor] of [
    ['README.md', vsce.ReadmeProcessor],
    ['CHANGELOG.md', vsce.ChangelogProcessor],
  ] as const)
    it(`has a ${file} that the marketplace accepts, once there is a repository`, async () => {
      const url = 'https://github.com/someone/parley'
      const repository = { type: 'git', url: `${url}.git` }
      // as `packOptions` has it
      const processor = new Processor({ ...manifest, repository }, { githubBranch: 'v1.2.3' })
      // throws for SVG, and for images that aren't from https
      const { contents } = await processor.onFile({
        path: `extension/${file}`,
        localPath: join(projectDirectory, file),
      })
      for (const [, image, address] of contents.toString().matchAll(/(!?)\[[^\]]*\]\(([^)\s]*)\)/g)) {
        assert.match(address!, image ? /^https:.*\.(png|jpe?g|gif)$/ : /^(https:|#)/, address)
        const own = /^https:\/\/github\.com\/someone\/parley\/(?:raw|blob)\/v1\.2\.3\/([^#]*)/.exec(address!)
        if (own) assert.ok(existsSync(join(projectDirectory, own[1]!)), own[1])
        else assert.ok(!address!.startsWith(url), address)
      }
    })

  it('has the pictures of the help', () => {
    const pages = names.filter(name => /^media\/help\/[\w-]+\.md$/.test(name))
    const pictures = pages.flatMap(name =>
      [...text(name).matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)].map(([, file]) => `media/help/${file}`),
    )
    assert.deepEqual(pictures.sort(), [
      'media/help/first-minute.svg',
      'media/help/parallel-sessions.svg',
      'media/help/review.svg',
    ])
    for (const picture of pictures) assert.ok(names.includes(picture), picture)
    const sum = pictures.reduce((total, name) => total + gzipSync(files[`extension/${name}`]!).length, 0)
    assert.ok(sum < 45_000, `${sum} bytes`)
  })

  it('contains no source maps', () => {
    for (const name of names.filter(name => /\.(js|cjs|mjs|css)$/.test(name)))
      assert.doesNotMatch(text(name), /sourceMappingURL=/, name)
  })

  it('contains usable icons of well-known agents', () => {
    const icons = Object.entries(JSON.parse(text('dist/agent-icons.json')) as Record<string, string>)
    assert.ok(icons.length > 10)
    for (const [id, svg] of icons) {
      assert.ok(cleanIcon(svg), id)
      assert.ok(
        agentPresets.some(({ registryIds }) => registryIds.includes(id)),
        id,
      )
    }
  })

  it('lists bundled third-party software with its licenses', () => {
    const notices = text('dist/THIRD_PARTY_NOTICES.txt')
    for (const name of ['vscode-jsonrpc', 'preact', '@agentclientprotocol/sdk', '@vscode/codicons', 'zod']) {
      const { version } = JSON.parse(
        readFileSync(join(projectDirectory, 'node_modules', name, 'package.json'), 'utf8'),
      )
      assert.ok(notices.includes(`\n${name} ${version}\nLicense: `), name)
    }
    assert.match(notices, /Permission is hereby granted, free of charge/)
  })

  it('has a bill of materials of what is bundled, and of nothing else', () => {
    const { metadata, components, dependencies }: Bom = JSON.parse(text('dist/sbom.cdx.json'))
    const inNotices = [...text('dist/THIRD_PARTY_NOTICES.txt').matchAll(/^-{78}\n(\S+) (\S+)\nLicense: /gm)]
    const id = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`
    assert.deepEqual(
      components.map(({ purl }) => purl).sort(),
      inNotices.map(([, name, version]) => id(name!, version!)).sort(),
    )
    for (const name of ['typescript', 'mocha', 'esbuild', '@types/vscode', 'tsx'])
      assert.ok(!components.some(({ purl }) => purl.startsWith(`${id(name, '')}`)), name)

    const lock = JSON.parse(readFileSync(join(projectDirectory, 'package-lock.json'), 'utf8')).packages
    for (const { 'bom-ref': folder, version, hashes, licenses } of components) {
      assert.equal(version, lock[folder].version, folder)
      const sha512 = hashes.find(({ alg }) => alg === 'SHA-512')!
      assert.ok(
        lock[folder].integrity.includes(Buffer.from(sha512.content, 'hex').toString('base64')),
        folder,
      )
      assert.ok(licenses[0]?.license?.id || licenses[0]?.expression, folder)
    }

    // what needs what, from Parley on, reaches each of them
    assert.equal(metadata.component.version, manifest.version)
    const reached = new Set([metadata.component['bom-ref']])
    for (const ref of reached)
      for (const next of dependencies.find(one => one.ref === ref)?.dependsOn ?? []) reached.add(next)
    assert.deepEqual(
      components.map(component => component['bom-ref']).filter(ref => !reached.has(ref)),
      [],
    )
  })

  it('supports the oldest VS Code that is tested', () => {
    assert.equal(manifest.engines.vscode, `^${floor.version}`)
    const types = join(projectDirectory, 'node_modules/@types/vscode/package.json')
    assert.ok(existsSync(types))
    const [major, minor] = JSON.parse(readFileSync(types, 'utf8')).version.split('.')
    assert.equal(`${major}.${minor}`, floor.version.split('.').slice(0, 2).join('.'))
  })
})
