// The client and the server of the MCP SDK each bring a copy of the code that they share, without what only the other one
// uses: 100 kB, nearly all of it twice. Both get the server's copy, with the declarations of the client's that it lacks.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseSync } from '@swc/core'

const SDK = 'node_modules/@modelcontextprotocol'
/** The file of a package that contains the shared code. Its name ends with a hash. */
const SHARED = /[\\/]@modelcontextprotocol[\\/](client|server)[\\/]dist[\\/]src-[\w-]+\.mjs$/
const namespace = 'one-mcp-core'

/** @type {import('esbuild').Plugin} */
export const oneMcpCore = {
  name: 'one-mcp-core',
  setup(build) {
    build.onLoad({ filter: SHARED }, ({ path }) => {
      const { exports } = partsOf(/** @type {'client' | 'server'} */ (SHARED.exec(path)?.[1]))
      return { contents: `${exports} from '${namespace}'` }
    })
    build.onResolve({ filter: RegExp(`^${namespace}$`) }, () => ({
      path: 'shared.mjs',
      namespace,
      sideEffects: false,
    }))
    build.onLoad({ filter: /.*/, namespace }, () => ({
      contents: oneCore(partsOf('client'), partsOf('server')),
      resolveDir: resolve(SDK, 'server/dist'),
    }))
  },
}

/**
 * The shared code of a package: its imports by the name that they get, its declarations by name, all of its statements but
 * the exports, in order, and its `export { … }`.
 *
 * @typedef {{imported: string[], declared: Map<string, string>, statements: string[], exports: string}} Parts
 * @returns {Parts}
 */
function partsOf(/** @type {'client' | 'server'} */ name) {
  const folder = join(SDK, name, 'dist')
  const file = readdirSync(folder).find(file => SHARED.test(join(folder, file))) ?? ''
  const bytes = readFileSync(join(folder, file))
  const { body, span } = parseSync(bytes.toString(), { syntax: 'ecmascript', target: 'es2022' })
  const parts = /** @type {Parts} */ ({ imported: [], declared: new Map(), statements: [], exports: '' })
  for (const item of body) {
    const text = bytes.subarray(item.span.start - span.start, item.span.end - span.start).toString()
    if (item.type === 'ExportNamedDeclaration') {
      parts.exports = text.replace(/;$/, '')
      continue
    }
    parts.statements.push(text)
    if (item.type === 'FunctionDeclaration' || item.type === 'ClassDeclaration')
      parts.declared.set(item.identifier.value, text)
    else if (item.type === 'VariableDeclaration')
      for (const { id } of item.declarations) if (id.type === 'Identifier') parts.declared.set(id.value, text)
    if (item.type === 'ImportDeclaration')
      parts.imported.push(...item.specifiers.map(({ local }) => local.value))
  }
  return parts
}

/** Throws if the two packages don't share their code anymore. */
function oneCore(/** @type {Parts} */ client, /** @type {Parts} */ server) {
  const missing = client.imported.find(name => !server.imported.includes(name))
  if (missing !== undefined) throw new Error(`Only the client of the MCP SDK imports ${missing}`)
  const added = []
  for (const [name, text] of client.declared) {
    const same = server.declared.get(name)
    if (same === undefined) added.push(text)
    // equal functions in several files of the SDK are numbered, and the server has more of them
    else if (same.replace(/\$\d+/g, '') !== text.replace(/\$\d+/g, ''))
      throw new Error(`The client and the server of the MCP SDK declare ${name} differently`)
  }
  // some imports are passed on
  const names = [...server.imported, ...server.declared.keys(), ...client.declared.keys()]
  return [...server.statements, ...added, `export { ${[...new Set(names)].join(', ')} }`].join('\n')
}
