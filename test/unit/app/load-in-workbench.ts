import { Module } from 'node:module'
import path from 'node:path'
import { build } from 'esbuild'

const sources = path.resolve(import.meta.dirname, '../../../src')

/** A module of the extension, by its path in src, with `workbench` as the `vscode` module. */
export async function loadWithFakeVsCode<T>(file: string, workbench: object): Promise<T> {
  const entry = path.join(sources, file)
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    external: ['vscode'],
    logLevel: 'error',
  })
  const require = Module.createRequire(entry)
  const module = { exports: {} as T }
  const run = new Function('require', 'module', 'exports', outputFiles[0]!.text)
  run((name: string) => (name === 'vscode' ? workbench : require(name)), module, module.exports)
  return module.exports
}
