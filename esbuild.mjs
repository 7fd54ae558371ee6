// Builds everything that runs: node esbuild.mjs [--production] [--watch] [--tests]
//   dist/extension.cjs       what is registered at startup
//   dist/services.js         the rest of the extension, and what it loads when needed in dist/chunks/
//   dist/code-actions.js     the code actions, which VS Code asks for before anything else of Parley is used
//   dist/search-worker.js    the thread that indexes and searches conversations
//   dist/mcp-bridge.js       the program that connects an agent to an MCP server over HTTP or SSE
//   dist/process-guard.cjs   the process that ends an agent's tree when the extension host dies
//   dist/agent-host.mjs      the program that runs agents that outlive their window
//   dist/demo-agent.js       the demo agent, a program of its own that shares code with the extension
//   dist/agent-icons.json    the icons of well-known agents
//   dist/webview/            the browser side, one entry for each view
//   dist/THIRD_PARTY_NOTICES.txt, dist/sbom.cdx.json   what it contains of others
// and out/check-agent.js, the check of an agent for the command line, which isn't part of the package
// With --tests instead: out/test/, the suite that runs inside the extension host.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { minify, version as swcVersion } from '@swc/core'
import * as esbuild from 'esbuild'
import satisfies from 'spdx-satisfies'
import subsetFont from 'subset-font'
import { billOfMaterials } from './test/package/bill-of-materials.mjs'
import { fewIcons } from './test/package/few-icons.mjs'
import { keptFile, keptFolder, removeUnused } from './test/package/kept-file.mjs'
import { oneMcpCore } from './test/package/one-mcp-core.mjs'
import { smallSchemas } from './test/package/small-schemas.mjs'

const { values: options } = parseArgs({
  options: {
    production: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
    tests: { type: 'boolean', default: false },
  },
})
const root = import.meta.dirname
process.chdir(root)

/** Licenses that let a VSIX carry the code, as long as their text comes with it. */
const PERMISSIVE = [
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC-BY-4.0',
  'Unlicense',
  'CC0-1.0',
]

/** What these packages' license files say, where their package.json says nothing. */
const LICENSE_IN_FILE = { khroma: 'MIT' }

/** @type {esbuild.BuildOptions} */
const common = {
  bundle: true,
  minify: options.production,
  sourcemap: options.production ? false : 'linked',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': options.production ? '"production"' : '"development"' },
}
/**
 * zod brings its messages in fifty languages, a quarter of the extension's code; ours are read in the log alone.
 * @type {esbuild.Plugin}
 */
const oneLanguageOfZod = {
  name: 'one-language-of-zod',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.c?js$/ }, () => ({
      contents: 'export {}',
    }))
  },
}

/**
 * The MCP SDK brings a validator of the results of tools and forms, a third of its code. Parley has none of them checked by it.
 * @type {esbuild.Plugin}
 */
const withoutToolValidator = {
  name: 'without-tool-validator',
  setup(build) {
    build.onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, ({ path }) => ({
      path,
      namespace: 'without-tool-validator',
    }))
    build.onLoad({ filter: /.*/, namespace: 'without-tool-validator' }, () => ({
      contents: `export const CORS_IS_POSSIBLE = false
        export class DefaultJsonSchemaValidator {}
        export { default as process } from 'node:process'`,
    }))
  },
}

/** @type {esbuild.BuildOptions} */
const node = {
  ...common,
  plugins: [oneLanguageOfZod, withoutToolValidator, oneMcpCore, smallSchemas],
  platform: 'node',
  target: 'node22',
  // signs requests for a way to sign in to an MCP server that isn't used
  external: ['jose'],
  // its first form for Node asks for its parts in a way that no bundler follows
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
}

/** Every character that KaTeX's fonts may have: the basic plane, and letters for mathematics. */
const CHARACTERS = [0x20, 0xe000, 0x1d400]
  .flatMap((from, i) => Array.from({ length: [0xd800, 0xffff, 0x1d800][i] - from }, (_, at) => from + at))
  .map(point => String.fromCodePoint(point))
  .join('')

/**
 * KaTeX names each of its fonts in three formats; VS Code reads the smallest. A fifth of it is hints for screens with few
 * pixels, which most systems ignore.
 * @type {esbuild.Plugin}
 */
const smallFonts = {
  name: 'small-fonts',
  setup(build) {
    build.onLoad({ filter: /[\\/]katex(\.min)?\.css$/ }, async ({ path }) => ({
      loader: 'css',
      contents: (await readFile(path, 'utf8')).replace(/,url\([^)]*\.(woff|ttf)\) ?format\("\w+"\)/g, ''),
    }))
    build.onLoad({ filter: /[\\/]KaTeX_[\w-]+\.woff2$/ }, async ({ path }) => {
      const font = await readFile(path)
      const packages = await readFile('package-lock.json')
      const how = { targetFormat: 'woff2', noHinting: true }
      const cut = () => subsetFont(font, CHARACTERS, how)
      return {
        loader: 'file',
        contents: await keptFile(keptFolder, [JSON.stringify(how), font, CHARACTERS, packages], cut),
      }
    })
  },
}

/**
 * The editor's commands for plain text come in one module with those for code, whose parsers do nothing here but weigh.
 * They say of themselves that importing them has effects; it has none that is needed where none of them is used.
 */
const dropUnusedParsers = {
  name: 'drop-unused-parsers',
  /** @param {esbuild.PluginBuild} build */
  setup(build) {
    build.onResolve({ filter: /^@(lezer|codemirror)\/(common|highlight|language)$/ }, async args => {
      if (args.pluginData === dropUnusedParsers) return undefined
      const { path, errors } = await build.resolve(args.path, {
        kind: args.kind,
        importer: args.importer,
        resolveDir: args.resolveDir,
        pluginData: dropUnusedParsers,
      })
      return { path, errors, sideEffects: false }
    })
  },
}

/**
 * Mermaid's parser contains all of the language server protocol, a sixth of it, for an error that only a server reports.
 * @type {esbuild.Plugin}
 */
const noLanguageServer = {
  name: 'no-language-server',
  setup(build) {
    build.onLoad({ filter: /[\\/]@mermaid-js[\\/]parser[\\/]dist[\\/].*\.mjs$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8')
      return {
        contents: code
          .replace(/(?<=\bvar import_vscode_languageserver_protocol = )__toESM\(\w+\(\), 1\)/, '{}')
          .replace(/(?<=^var \w+ = )(?=__commonJS\()/gm, '/* @__PURE__ */ '),
      }
    })
  },
}

/**
 * Mermaid's parser loads each language on demand, whose code is all in the part that they share: 30 files of a few bytes.
 * @type {esbuild.Plugin}
 */
const parserInOnePart = {
  name: 'parser-in-one-part',
  setup(build) {
    build.onLoad({ filter: /[\\/]mermaid-parser\.core\.mjs$/ }, async ({ path }) => {
      const imports = /** @type {string[]} */ ([])
      const code = (await readFile(path, 'utf8')).replace(/await import\((".*?")\)/g, (_, file) => {
        imports.push(`import * as language${imports.length} from ${file}`)
        return `language${imports.length - 1}`
      })
      return { contents: [...imports, code].join('\n') }
    })
  },
}

/**
 * What a program shares with its lazy parts would be split into a chunk for each set of parts that share it, and all of
 * them loaded at first. As every part imports the program, which is there already, all of that is one chunk. Of the
 * webviews, only the conversation's page has lazy parts.
 * @param {string} program
 * @returns {esbuild.Plugin}
 */
const lazyAfter = program => ({
  name: 'lazy-after',
  setup(build) {
    build.onResolve({ filter: /^\..*\.tsx?$/ }, ({ path, kind, resolveDir }) =>
      kind === 'dynamic-import'
        ? { path: relative(root, join(resolveDir, path)).replaceAll('\\', '/'), namespace: 'lazy' }
        : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => ({
      contents: `import ${JSON.stringify(program)}; export * from ${JSON.stringify(`./${path}`)}`,
      resolveDir: root,
    }))
  },
})

/** Bundled CommonJS packages ask for Node's own modules with `require`, which an ES module lacks. */
const requireInModules = {
  js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
}

/**
 * What the extension loads later is ES modules beside its first file.
 * @type {esbuild.Plugin}
 */
const laterModules = {
  name: 'later-modules',
  setup(build) {
    build.onResolve({ filter: /^\..*\.ts$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: `./${basename(path, '.ts')}.js`, external: true } : undefined,
    )
  },
}

/** @type {esbuild.BuildOptions} */
const host = {
  ...node,
  outdir: 'dist',
  external: ['vscode', ...node.external],
  // zod looks at it, and the extension host reports every look at it as a mistake of the extension's.
  define: { ...common.define, navigator: 'undefined' },
}

/**
 * Node copies all that a module of its own exports when an ES module imports it, and thereby loads what it would only load
 * when used: 40 ms for `node:http` alone. Asked for this way, only what is used is looked at.
 * @type {esbuild.Plugin}
 */
const modulesOfNode = {
  name: 'modules-of-node',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'node', sideEffects: false } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'node' }, ({ path }) => {
      const names = Object.getOwnPropertyNames(process.getBuiltinModule(path))
      const named = names.filter(name => name !== 'default' && /^\w+$/.test(name))
      return {
        contents: [
          `const all = process.getBuiltinModule(${JSON.stringify(path)})`,
          'export default all',
          // without effects, so that what isn't used is dropped
          ...named.map(
            (name, i) => `const v${i} = /* @__PURE__ */ (() => all.${name})(); export { v${i} as ${name} }`,
          ),
        ].join('\n'),
      }
    })
  },
}

/** Only this file is CommonJS: VS Code takes several times as long to load an ES module. @type {esbuild.BuildOptions} */
const extension = {
  ...host,
  entryPoints: { extension: 'src/extension.ts' },
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  plugins: [...node.plugins, modulesOfNode, laterModules],
}

/** @type {esbuild.BuildOptions} */
const services = {
  ...host,
  entryPoints: {
    services: 'src/services.ts',
    'code-actions': 'src/workbench/code-actions.ts',
    'search-worker': 'src/history/search/search-worker.ts',
    'demo-agent': 'src/demo-agent/main.ts',
    // a program of its own, here because it shares the MCP SDK
    'mcp-bridge': 'src/mcp/bridge/main.ts',
  },
  format: 'esm',
  splitting: true,
  chunkNames: 'chunks/[hash]',
  plugins: [...node.plugins, modulesOfNode, lazyAfter('./src/services.ts')],
  banner: requireInModules,
}

/** The pages, with the name of their styles. */
const PAGES = {
  ...{ conversation: 'conversation', history: 'history' },
  ...{ agents: 'pages', mcp: 'pages', compare: 'pages' },
}

/** @type {esbuild.BuildOptions} */
const webviews = {
  ...common,
  entryPoints: [
    ...Object.keys(PAGES).map(page => ({ in: `src/webview/${page}/main.tsx`, out: page })),
    ...['conversation', 'history'].map(page => ({ in: `src/webview/${page}/main.css`, out: page })),
    { in: 'src/webview/styles/pages.css', out: 'pages' },
    { in: 'src/webview/rich/math.css', out: 'math' },
    { in: 'src/webview/styles/later.css', out: 'later' },
    { in: 'src/webview/styles/icons.css', out: 'icons' },
  ],
  outdir: 'dist/webview',
  platform: 'browser',
  target: 'chrome128',
  format: 'esm',
  splitting: true,
  chunkNames: 'chunks/[hash]',
  assetNames: 'assets/[name]-[hash]',
  loader: { '.ttf': 'file', '.woff2': 'file' },
  // the browser knows the names of all characters by itself
  alias: { entities: './src/webview/markdown/entities.ts' },
  plugins: [
    smallFonts,
    dropUnusedParsers,
    noLanguageServer,
    parserInOnePart,
    fewIcons,
    lazyAfter('./src/webview/conversation/main.tsx'),
  ],
  jsx: 'automatic',
  jsxImportSource: 'preact',
}

/**
 * A page without shared files: what it has in common with two other pages would be one more file that the conversation
 * loads at first.
 * @type {esbuild.BuildOptions}
 */
const inspector = {
  ...webviews,
  entryPoints: [{ in: 'src/webview/inspector/main.tsx', out: 'inspector' }],
  splitting: false,
}

/** Programs of their own. @type {esbuild.BuildOptions[]} */
const programs = [
  {
    ...node,
    entryPoints: ['src/common/processes/process-guard-main.ts'],
    outfile: 'dist/process-guard.cjs',
    format: 'cjs',
  },
  {
    ...node,
    entryPoints: ['src/agent-host/main.ts'],
    outfile: 'dist/agent-host.mjs',
    format: 'esm',
    banner: requireInModules,
  },
]

/** @type {esbuild.BuildOptions} */
const checkAgent = {
  ...node,
  entryPoints: ['src/acp/conformance/main.ts'],
  outfile: 'out/check-agent.js',
  format: 'esm',
  banner: requireInModules,
}

/** @returns {esbuild.BuildOptions} */
function integrationTests() {
  const sources = readdirSync('test/integration', { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts'))
    .map(file => join('test/integration', file))
  return {
    ...node,
    minify: false,
    sourcemap: 'inline',
    entryPoints: ['test/integration/index.ts', ...sources],
    outbase: 'test',
    outdir: 'out/test',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    packages: 'external',
    // not bundled, packages are what Node takes them for
    alias: {},
    external: ['vscode'],
    plugins: [keepSourceLocation],
  }
}

/** A test finds its fixtures beside its source, wherever its bundle lies. */
const keepSourceLocation = {
  name: 'keep-source-location',
  /** @param {esbuild.PluginBuild} build */
  setup(build) {
    build.onLoad({ filter: /[\\/](src|test)[\\/].*\.ts$/ }, async ({ path }) => ({
      loader: 'ts',
      contents: (await readFile(path, 'utf8'))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.filename', JSON.stringify(path))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    }))
  },
}

/** The package folders whose code or assets really are in the bundles, sorted. */
function bundledPackages(/** @type {esbuild.Metafile[]} */ metafiles) {
  const folders = new Set()
  for (const { outputs } of metafiles)
    for (const output of Object.values(outputs))
      for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
        const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0]
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder)
      }
  return [...folders].sort()
}

/** The words of a license without its heading and its copyright lines. */
function termsOf(/** @type {string} */ notice) {
  const text = notice.slice(notice.indexOf('\n\n')).replace(/^.*copyright \(c\).*$/gim, '')
  return text.slice(Math.max(0, text.search(/permission|redistribution/i))).replace(/\s+/g, ' ')
}

const ICONS = 'node_modules/@lobehub/icons-static-svg'
/** The names of the icons, by the agents' ids in the registry. */
const BRANDS = {
  'claude-acp': 'claude',
  'codex-acp': 'codex',
  gemini: 'geminicli',
  'github-copilot-cli': 'githubcopilot',
  opencode: 'opencode',
  'qwen-code': 'qwen',
  cursor: 'cursor',
  goose: 'goose',
  kimi: 'kimi',
  'grok-build': 'grok',
  kilo: 'kilocode',
  junie: 'junie',
  'mistral-vibe': 'mistral',
  cline: 'cline',
}

/** Their icons as plain SVG, for agents whose icon the registry hasn't provided yet. */
const agentIcons = () =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(BRANDS).map(([id, name]) => [
        id,
        readFileSync(join(ICONS, 'icons', `${name}.svg`), 'utf8').replace(/ style="[^"]*"/, ''),
      ]),
    ),
  )

/** A package's license. Throws when it may not be passed on, or does not say whether it may. */
function licenseOf(/** @type {string} */ name, /** @type {unknown} */ stated) {
  const license = stated ?? LICENSE_IN_FILE[name]
  if (typeof license === 'string' && satisfies(license, PERMISSIVE)) return license
  throw new Error(
    `${name} is in a bundle, and its license (${JSON.stringify(license)}) is not on the list of permissive ones.`,
  )
}

/** The text of the notices. */
function notices(/** @type {string[]} */ folders) {
  const parts = folders.map(folder => {
    const { name, version, author, repository, ...manifest } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    )
    const license = licenseOf(name, manifest.license)
    const texts = readdirSync(folder)
      .filter(file => /^(licen[cs]e|copying|notice)/i.test(file))
      .sort()
      .map(file => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim())
    const source = typeof repository === 'string' ? repository : repository?.url
    const holder = typeof author === 'string' ? author : author?.name
    const text =
      texts.length > 0 ? texts.join('\n\n') : `Licensed under ${license}${holder ? ` by ${holder}` : ''}.`
    return [
      `${name} ${version}`,
      `License: ${license}`,
      ...(source ? [`Source: ${source}`] : []),
      '',
      text,
    ].join('\n')
  })
  // next to each other, equal texts compress to nothing
  parts.sort((a, b) => termsOf(a).localeCompare(termsOf(b), 'en'))
  const line = '-'.repeat(78)
  return `Parley contains the following software of others, with thanks.\n\n${parts.map(part => `${line}\n${part}\n`).join('\n')}`
}

/**
 * For each page, the chunks and the font it loads at first, below `dist/webview`: the page names them, so that they load
 * side by side with its script and its styles.
 */
function firstFiles(/** @type {esbuild.Metafile} */ { outputs }) {
  const filesOf = (/** @type {string} */ file, /** @type {Set<string>} */ seen) => {
    for (const { path, kind } of outputs[file]?.imports ?? []) {
      if (seen.has(path)) continue
      if (kind === 'import-statement') filesOf(path, seen.add(path))
      else if (path.includes('codicon-named')) seen.add(path)
    }
    return seen
  }
  // lazy parts are entry points as well
  const pages = Object.entries(PAGES).filter(([, styles]) => styles !== 'pages')
  return Object.fromEntries(
    // small pages are opened rarely, whereas this table is loaded at every start
    pages.map(([page, styles]) => {
      const files = filesOf(`dist/webview/${styles}.css`, filesOf(`dist/webview/${page}.js`, new Set()))
      return [page, [...files].map(path => relative('dist/webview', path))]
    }),
  )
}

/**
 * As a text: a table would be a module of its own, which every other one calls.
 * @param {Record<string, string[]>} files by the page's name
 */
const namingFiles = (build, files) => ({
  ...build,
  define: { ...build.define, FIRST_FILES: JSON.stringify(JSON.stringify(files)) },
})

/** What esbuild has minified becomes 4 to 5% smaller once more, compressed. */
async function minifyMore() {
  /** @type {import('@swc/core').JsMinifyOptions} */
  const how = { compress: { passes: 2, ecma: 2022 }, mangle: true, ecma: 2022 }
  const scripts = readdirSync('dist', { recursive: true, encoding: 'utf8' })
    .filter(name => /\.[cm]?js$/.test(name))
    .map(name => join('dist', name))
  for (const file of scripts) {
    const before = await readFile(file, 'utf8')
    const options = { ...how, module: !file.endsWith('.cjs') }
    const inputs = [`swc ${swcVersion}`, JSON.stringify(options), before]
    const after = await keptFile(keptFolder, inputs, async () =>
      Buffer.from((await minify(before, options)).code),
    )
    if (after.length < Buffer.byteLength(before)) await writeFile(file, after)
  }
}

if (options.watch) {
  const builds = options.tests
    ? [integrationTests()]
    : [webviews, inspector, ...[extension, services].map(build => namingFiles(build, {})), ...programs]
  for (const build of builds) await (await esbuild.context({ ...build, logLevel: 'info' })).watch()
} else if (options.tests) {
  rmSync('out/test', { recursive: true, force: true })
  await esbuild.build(integrationTests())
} else {
  rmSync('dist', { recursive: true, force: true })
  mkdirSync('dist')
  writeFileSync('dist/agent-icons.json', agentIcons())
  const pages = await esbuild.build(webviews)
  const files = firstFiles(pages.metafile)
  const rest = [inspector, ...[extension, services].map(build => namingFiles(build, files)), ...programs]
  const results = [pages, ...(await Promise.all(rest.map(build => esbuild.build(build))))]
  if (!options.production) await esbuild.build(checkAgent)
  if (options.production) {
    await minifyMore()
    await removeUnused(keptFolder)
  }
  const packages = [...bundledPackages(results.map(result => result.metafile)), ICONS]
  writeFileSync('dist/THIRD_PARTY_NOTICES.txt', notices(packages))
  writeFileSync('dist/sbom.cdx.json', billOfMaterials(packages, root, licenseOf))
}
