import assert from 'node:assert/strict'
import { PathRules } from '../../../src/editor/path-rules.ts'
import { isProtectedPath, ProtectedFiles } from '../../../src/editor/protected-files.ts'

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
})
