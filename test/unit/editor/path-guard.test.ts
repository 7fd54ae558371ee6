import assert from 'node:assert/strict'
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { type Links, PathGuard } from '../../../src/editor/path-guard.ts'
import { InvalidPathError, PathRules } from '../../../src/editor/path-rules.ts'
import { foldingDisk } from '../../support/folding-disk.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe('the path guard', () => {
  const folder = useTemporaryFolder()
  const at = (...names: string[]) => path.join(folder(), ...names)
  const guard = (...additional: string[]) =>
    new PathGuard({ cwd: at('root'), additionalDirectories: additional })
  const inside = async (target: string) => (await guard().check(target)).inside

  beforeEach(() => {
    mkdirSync(at('root', 'src'), { recursive: true })
    mkdirSync(at('outside'))
    writeFileSync(at('root', 'src', 'a.ts'), '')
    writeFileSync(at('outside', 'secret'), '')
  })

  it('allows the root, its content, and new files in it', async () => {
    for (const target of [at('root'), at('root/src/a.ts'), at('root/new/deep/file'), 'src/a.ts', './x']) {
      assert.equal(await inside(target), true, target)
    }
  })

  it('rejects everything outside of the roots', async () => {
    for (const target of [
      at('outside/secret'),
      at('root-two/x'),
      at('root/../outside/secret'),
      at('root/src/../../outside/new'),
      '../outside/secret',
      '/etc/passwd',
      '/',
    ]) {
      assert.equal(await inside(target), false, target)
    }
  })

  it('allows additional directories', async () => {
    const judged = await guard(at('outside')).check(at('outside/secret'))
    assert.equal(judged.inside, true)
  })

  it('follows links that lead outside of the root', async () => {
    symlinkSync(at('outside'), at('root/link'))
    symlinkSync(at('outside/secret'), at('root/file'))
    assert.equal(await inside(at('root/link/secret')), false)
    assert.equal(await inside(at('root/link/new/file')), false)
    const judged = await guard().check(at('root/file'))
    assert.deepEqual([judged.inside, judged.realPath], [false, at('outside/secret')])
  })

  it('follows a link to a missing file, which a write would create', async () => {
    symlinkSync(at('outside/new'), at('root/dangling'))
    symlinkSync('../outside/newer', at('root/relative'))
    assert.equal(await inside(at('root/dangling')), false)
    assert.equal(await inside(at('root/dangling/x')), false)
    assert.equal(await inside(at('root/relative')), false)
  })

  it('resolves `..` in a path after the link before it', async () => {
    mkdirSync(at('outside/deep'))
    symlinkSync(at('outside/deep'), at('root/deep'))
    symlinkSync('deep/../new', at('root/tricky'))
    const judged = await guard().check(at('root/tricky'))
    assert.deepEqual([judged.inside, judged.realPath], [false, at('outside/new')])
  })

  it('allows links within the root, and to it', async () => {
    symlinkSync(at('root/src'), at('root/alias'))
    symlinkSync(at('root'), at('door'))
    assert.equal(await inside(at('root/alias/a.ts')), true)
    const judged = await guard().check(at('door/src/a.ts'))
    assert.deepEqual(judged, {
      path: at('door/src/a.ts'),
      realPath: at('root/src/a.ts'),
      inside: true,
      relative: ['src/a.ts'],
      aliases: [],
    })
  })

  it('allows a root that is a link, and paths through it', async () => {
    symlinkSync(at('root'), at('door'))
    const linked = new PathGuard({ cwd: at('door'), additionalDirectories: [] })
    const judged = await linked.check(at('root/src/a.ts'))
    assert.deepEqual([judged.inside, judged.aliases], [true, [at('door/src/a.ts')]])
  })

  it('knows the other paths that a file has in the folders of the editor, which are no roots', async () => {
    symlinkSync(at('root'), at('door'))
    const folders = () => [at('door'), at('gone'), at('root')]
    const guard = new PathGuard({ cwd: at('root'), additionalDirectories: [] }, { folders })
    const judged = await guard.check(at('root/src/a.ts'))
    assert.deepEqual([judged.inside, judged.aliases], [true, [at('door/src/a.ts')]])
    const outside = new PathGuard({ cwd: at('root/src'), additionalDirectories: [] }, { folders })
    const asked = await outside.check(at('root/b.ts'))
    assert.deepEqual([asked.inside, asked.relative, asked.aliases], [false, [], [at('door/b.ts')]])
  })

  it('rejects circular links', async () => {
    symlinkSync(at('root/two'), at('root/one'))
    symlinkSync(at('root/one'), at('root/two'))
    await assert.rejects(guard().check(at('root/one')), { code: 'ELOOP' })
  })

  it('rejects invalid paths', async () => {
    await assert.rejects(guard().check(''), InvalidPathError)
    await assert.rejects(guard().check('a\0b'), InvalidPathError)
  })

  it('reports a folder without permission', async () => {
    const links: Links = {
      realpath: async () => Promise.reject(Object.assign(new Error('denied'), { code: 'EACCES' })),
      readlink: async () => assert.fail(),
    }
    const blind = new PathGuard({ cwd: '/w', additionalDirectories: [] }, { links })
    await assert.rejects(blind.check('/w/a'), { code: 'EACCES' })
  })

  it('compares the case as on disk', async () => {
    // first a Mac whose disk has only /Work/App, then one with a case-sensitive disk
    const folding = foldingDisk(['/Work/App', '/Work/App/a'], true)
    const mac = { rules: new PathRules('darwin'), links: folding }
    const onFolding = new PathGuard({ cwd: '/work/app', additionalDirectories: [] }, mac)
    assert.equal((await onFolding.check('/WORK/APP/a')).inside, true)
    assert.equal((await onFolding.check('/work/APP/new')).inside, true)
    const exact = { rules: new PathRules('darwin'), links: foldingDisk(['/Work/App', '/Work/app'], false) }
    const onExact = new PathGuard({ cwd: '/Work/App', additionalDirectories: [] }, exact)
    assert.equal((await onExact.check('/Work/app/x')).inside, false)
  })

  it('handles Windows drives and shares', async () => {
    const rules = new PathRules('win32')
    const links = foldingDisk(['C:\\Work\\App', 'D:\\', '\\\\server\\share\\dir'], true, '\\')
    const roots = { cwd: 'c:\\work\\app', additionalDirectories: ['\\\\server\\share\\dir'] }
    const windows = new PathGuard(roots, { rules, links })
    const judge = async (target: string) => (await windows.check(target)).inside
    assert.equal(await judge('C:/WORK/app/x.ts'), true)
    assert.equal(await judge('src\\x.ts'), true)
    assert.equal(await judge('\\\\SERVER\\share\\dir\\x'), true)
    assert.equal(await judge('D:\\work\\app\\x'), false)
    assert.equal(await judge('C:\\work\\app2\\x'), false)
    assert.equal(await judge('\\\\server\\other\\dir\\x'), false)
    assert.equal(await judge('c:\\work\\app\\..\\x'), false)
  })

  it('never allows a path that leads outside, and returns the target of others', async () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const way = fc.array(fc.oneof(name, fc.constantFrom('..', '.')), { minLength: 1, maxLength: 5 })
    const entry = fc.record({
      side: fc.constantFrom('root', 'outside'),
      place: fc.array(name, { minLength: 1, maxLength: 3 }),
      kind: fc.oneof(
        fc.constant({ type: 'file' as const }),
        fc.constant({ type: 'folder' as const }),
        fc.record({
          type: fc.constant('link' as const),
          from: fc.constantFrom('here', 'root', 'outside'),
          to: way,
        }),
      ),
    })
    let judgedInside = 0
    let judgedOutside = 0
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 10 }), way, async (entries, target) => {
        for (const side of ['root', 'outside']) {
          rmSync(at(side), { recursive: true, force: true })
          mkdirSync(at(side))
        }
        for (const { side, place, kind } of entries) {
          const where = at(side, ...place)
          try {
            mkdirSync(path.dirname(where), { recursive: true })
            if (kind.type === 'file') writeFileSync(where, '', { flag: 'wx' })
            else if (kind.type === 'folder') mkdirSync(where)
            else
              symlinkSync(
                kind.from === 'here' ? kind.to.join('/') : `${at(kind.from)}/${kind.to.join('/')}`,
                where,
              )
          } catch {
            // something else exists there
          }
        }
        let judged: Awaited<ReturnType<PathGuard['check']>>
        try {
          judged = await guard().check(at('root', ...target))
        } catch (error) {
          assert.equal((error as NodeJS.ErrnoException).code, 'ELOOP')
          return
        }
        // finds the real target by creating a file at the tested path
        try {
          mkdirSync(path.dirname(judged.realPath), { recursive: true })
          writeFileSync(judged.realPath, '', { flag: 'a' })
        } catch (error) {
          // there is a folder, or the path contains a file
          assert.match((error as NodeJS.ErrnoException).code ?? '', /^(EISDIR|ENOTDIR|EEXIST)$/)
        }
        if (!existsSync(judged.path)) return
        const truth = realpathSync.native(judged.path)
        assert.equal(judged.realPath, truth)
        assert.equal(judged.inside, isWithin(at('root'), truth))
        if (judged.inside) judgedInside += 1
        else judgedOutside += 1
      }),
    )
    // the tested paths include allowed and forbidden ones
    assert.ok(judgedInside > 20 && judgedOutside > 20, `${judgedInside} inside, ${judgedOutside} outside`)
  })
})

function isWithin(root: string, target: string): boolean {
  return target === root || target.startsWith(`${root}/`)
}
