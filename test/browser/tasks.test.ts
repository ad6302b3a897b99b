import { expect, test } from 'vitest'
import { call, drawingChannel, drawingsOf, holder, imagine, imagined, musicChannel, poll } from '#test/tasks/world.ts'
import { describeWithBrowser } from '../support/chromium.ts'
import { seriousViolations } from './accessibility.ts'
import { openConsole, startInBrowser } from './console.ts'
import { isTaken, long } from '#test/support/long.ts'

describeWithBrowser('drawings and music in the console', async () => {
  const { app, browser } = await startInBrowser()
  await drawingChannel(app, { name: 'Easel' })
  await musicChannel(app, { name: 'Piano' })
  const by = await holder(app)
  await imagined(app, by, 'a failing picture [[job=failure,polls=1,message=no paint left]]')
  await imagine(app, by, 'a refused picture [[mjcode=24]]')
  await imagined(app, by, 'a slow picture [[job=running]]')
  await imagined(app, by, 'a cat with a hat [[polls=1]]')
  await call(app, by, 'POST /suno/submit/music', { gpt_description_prompt: 'a song about rain [[polls=1]]' })
  await call(app, by, 'POST /suno/submit/lyrics', { prompt: 'words for the song' })
  await poll(app)

  const looks = [
    { theme: 'light', width: 1440, height: 900 },
    { theme: 'dark', width: 390, height: 844 },
  ] as const

  test.each(looks.filter((_, place) => isTaken(2, place)))(
    'an owner finds an image, its cost and its progress, $theme $width',
    async (look) => {
      const { page, complaints } = await openConsole(browser, app, { ...look, language: 'en', reader: by.user })
      await page.goto('/app/logs/drawing')
      await page.getByText('a cat with a hat').first().waitFor()
      expect(await page.getByText('Easel').count()).toBe(0)
      await page.getByText('a cat with a hat').first().click()
      const panel = page.getByRole('complementary', { name: 'Task details' })
      const imageFile = panel.getByRole('img')
      await imageFile.waitFor()
      await expect
        .poll(() => imageFile.evaluate((image) => (image as HTMLImageElement).naturalWidth))
        .toBeGreaterThan(0)
      await panel.getByText('$0.100000').waitFor()
      expect(await seriousViolations(page)).toEqual([])
      expect(complaints).toEqual([])
    },
  )

  test('an administrator narrows everybody’s drawings by state, and sees whose they are and where they went', async () => {
    const admin = await app.make.user({ role: 10 })
    const { page, complaints } = await openConsole(browser, app, { language: 'en', reader: { ...admin, role: 10 } })
    await page.goto('/app/logs/drawing?status=FAILURE')
    await page.getByText('a failing picture').first().waitFor()
    expect(await page.getByText('a cat with a hat').count()).toBe(0)
    expect(await page.getByText('Easel').count()).toBeGreaterThan(0)
    expect(await page.getByText(by.user.username).count()).toBeGreaterThan(0)
    await page.getByText('a failing picture').first().click()
    await page.getByText('no paint left').first().waitFor()
    await page.getByText('The task failed; what it cost was given back.').waitFor()
    expect(complaints).toEqual([])
  })

  test.runIf(long)('a drawing opened by link is asked for until it is finished, beside its list', async () => {
    const slow = (await drawingsOf(app, by)).find(({ status }) => status === 'IN_PROGRESS')
    const { page, context, complaints } = await openConsole(browser, app, { language: 'en', reader: by.user })
    await page.clock.install()
    await page.goto(`/app/logs/drawing?status=FAILURE&open=${slow?.id}`)
    const panel = page.getByRole('complementary', { name: 'Task details' })
    await panel.getByText('a slow picture').first().waitFor()
    await app.pool.query(
      "update drawing_tasks set status = 'SUCCESS', progress = '100%', description = 'At last' where id = $1",
      [slow?.id],
    )
    await page.clock.fastForward(15_000)
    await panel.getByText('At last').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test.each(looks.filter((_, place) => isTaken(2, place, 1)))(
    'an owner finds the result of a music task, $theme $width',
    async (look) => {
      const { page, complaints } = await openConsole(browser, app, { ...look, language: 'en', reader: by.user })
      await page.goto('/app/logs/tasks?range=7d')
      await page.getByText('a song about rain').first().click()
      const panel = page.getByRole('complementary', { name: 'Task details' })
      await panel.getByText('Open the audio file').first().waitFor()
      expect(await seriousViolations(page)).toEqual([])
      expect(complaints).toEqual([])
    },
  )
})
