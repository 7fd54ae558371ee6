import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { PathRules } from '../../../src/editor/path-rules.ts'
import { isProtectedPath, ProtectedFiles, ProtectedSnapshot } from '../../../src/editor/protected-files.ts'

describe('protected files', () => {
  it('include settings, hooks and MCP servers in any folder, in upper or lower case', () => {
    for (const path of [
      '.vscode/settings.json',
      '.vscode',
      'a/.VSCODE/tasks.json',
      'x.code-workspace',
      '.git/hooks/pre-commit',
      '.git',
      'modules/a/.git/config',
      '.g\u200cit/config',
      '.husky/_/pre-push',
      '.githooks/x',
      '.mcp.json',
      'sub/.mcp.json',
      '.gitmodules',
      '.devcontainer/devcontainer.json',
      '.claude/settings.local.json',
      '.cursor/mcp.json',
      '.codex/config.toml',
      'a\\.git\\config',
      'sub/mise.toml',
      '.mise.local.toml',
      'mise.production.toml',
      '.config/mise/config.toml',
      '.mise/config.toml',
      'sub/.tool-versions',
      '.config/mise/conf.d/x.toml',
      '.mise/conf.d/x.toml',
      'mise/conf.d/x.toml',
      '.miserc.toml',
      'sub/.envrc',
    ]) {
      assert.equal(isProtectedPath(path), true, path)
    }
    for (const path of [
      'git/config',
      'src/vscode.ts',
      '.github/workflows/x.yml',
      '.claude/notes.md',
      'mcp.json',
      '.gitignore',
      'src/promise.toml',
      'config.toml',
      'mise/tasks.toml',
      'conf.d/x.toml',
      'mise/conf.d/readme.md',
    ]) {
      assert.equal(isProtectedPath(path), false, path)
    }
  })

  it("include the editor's own settings, but not the data of extensions next to them", async () => {
    const files = new ProtectedFiles(new PathRules('linux'), ['/home/u/.config/Code/User'])
    const includes = (realPath: string) => files.includes({ realPath, relative: ['x'] }, [])
    assert.equal(await includes('/home/u/.config/Code/User/settings.json'), true)
    assert.equal(await includes('/home/u/.config/Code/User/mcp.json'), true)
    assert.equal(await includes('/home/u/.config/Code/User/profiles/a/settings.json'), true)
    assert.equal(await includes('/home/u/.config/Code/User/globalStorage/x/data/a.json'), false)
    assert.equal(await includes('/home/u/project/settings.json'), false)
  })

  it('include the settings in a folder that an agent has instead of its usual one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-account-'))
    try {
      const link = `${folder}-link`
      symlinkSync(folder, link, 'junction')
      let own = [link]
      const files = new ProtectedFiles(new PathRules(), [], () => own)
      const real = realpathSync(folder)
      const includes = (name: string) => files.includes({ realPath: join(real, name), relative: ['x'] }, [])
      assert.equal(await includes('settings.json'), true)
      assert.equal(await includes('config.toml'), true)
      assert.equal(await includes('projects/notes.md'), false)
      own = []
      assert.equal(await includes('settings.json'), false)
      rmSync(link)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('are noticed when a command changes them, those of mise in each of its folders', async () => {
    const root = mkdtempSync(join(tmpdir(), 'parley-protected-'))
    try {
      const write = (name: string, text: string) => {
        mkdirSync(dirname(join(root, name)), { recursive: true })
        writeFileSync(join(root, name), text)
      }
      const old = ['.envrc', 'mise.toml', '.mise/config.toml', 'mise/config.toml', '.config/mise.toml']
      for (const name of old) write(name, 'a = 1')
      const read = (file: string) => readFile(file, 'utf8').catch(() => null)
      const snapshot = await ProtectedSnapshot.take([root], [], read, Date.now())
      const all = [...old, '.config/mise/config.toml', '.config/mise/conf.d/x.toml', '.tool-versions']
      for (const name of all) write(name, 'a = 2')
      for (const name of ['.config/other.toml', 'mise/notes.md', 'conf.d/x.toml']) write(name, 'a = 2')
      const changed = (await snapshot.changes()).map(({ path }) => relative(root, path).replaceAll('\\', '/'))
      assert.deepEqual(changed.sort(), all.sort())
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })

  it("don't include a repository's configuration while it only has what Git writes by itself", async () => {
    const root = mkdtempSync(join(tmpdir(), 'parley-protected-'))
    try {
      const config = join(root, '.git/config')
      const git = (...args: string[]) => execFileSync('git', args, { cwd: root })
      const read = (file: string) => readFile(file, 'utf8').catch(() => null)
      const snapshot = await ProtectedSnapshot.take([root], [], read, Date.now())
      const changed = async () => (await snapshot.changes()).map(({ path }) => path)
      git('init', '-q')
      git('remote', 'add', 'origin', 'https://example.com/a.git')
      git('config', 'branch.main.remote', 'origin')
      assert.deepEqual(await changed(), [])
      git('config', 'core.fsmonitor', './run')
      assert.deepEqual(await changed(), [config])
      git('config', '--unset', 'core.fsmonitor')
      assert.deepEqual(await changed(), [config])
      for (const line of [
        '[remote "origin"] uploadpack = ./run',
        '[core] sshCommand = ./run',
        '[remote "b"]\n\turl = .\n\treceivepack = ./run',
        '[include]\n\tpath = run',
      ]) {
        appendFileSync(config, `${line}\n`)
        assert.deepEqual(await changed(), [config], line)
      }
      rmSync(join(root, '.git'), { recursive: true })
      assert.deepEqual(await changed(), [config])
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})
