import type { Router } from 'express'
import { DomainError } from '#core/errors.ts'
import { drawingModes } from '#core/tasks/drawing.ts'
import { type TaskPlatform, taskPlatforms } from '#core/tasks/platforms.ts'
import { submissions } from '#relay/dialects/drawing/request.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { handleTask } from './admit.ts'
import { sendImage } from './drawing/image.ts'
import { createNotify } from './drawing/notify.ts'
import { fetchDrawing, fetchSeed, listDrawings } from './drawing/read.ts'
import { submitDrawing } from './drawing/submit.ts'
import { fetchMusicTask, fetchMusicTasks } from './music/read.ts'
import { submitMusicTask } from './music/submit.ts'
import { reportDrawing } from './report.ts'

const platforms = Object.values<TaskPlatform>(taskPlatforms)

/** Where drawings are asked for, with the lane that each base stands for. */
const lanes = [{ base: '/mj', mode: '' as const }, ...drawingModes.map((mode) => ({ base: `/mj-${mode}/mj`, mode }))]

export const drawingBases = lanes.map(({ base }) => base)

/** Everything below these belongs to drawings and other tasks. */
export const taskBases = [...drawingBases, ...platforms.map(({ id }) => `/${id}`)]

/** Images of drawings, which need no key; the console shows them too. */
export function serveImages(services: RelayServices, router: Router): void {
  for (const base of drawingBases) {
    router.get(`${base}/image/:id`, (req, res) => sendImage(services, req.params.id, { req, res }))
  }
}

export function serveTasks(services: RelayServices, router: Router): void {
  const notify = createNotify(services)
  for (const { base, mode } of lanes) {
    for (const submission of submissions) {
      const path = submission === 'swap' ? '/insight-face/swap' : `/submit/${submission}`
      router.post(base + path, (req, res) => submitDrawing(services, { submission, mode }, { req, res }))
    }
    router.post(`${base}/submit/*rest`, (req, res) =>
      handleTask(
        services,
        { req, res },
        {
          report: reportDrawing,
          answer: () => Promise.reject(new DomainError('drawing.action_unknown')),
        },
      ),
    )
    router.post(`${base}/notify`, (req, res) => notify({ req, res }))
    router.get(`${base}/task/:id/fetch`, (req, res) => fetchDrawing(services, req.params.id, { req, res }))
    router.get(`${base}/task/:id/image-seed`, (req, res) => fetchSeed(services, req.params.id, { req, res }))
    router.post(`${base}/task/list-by-condition`, (req, res) => listDrawings(services, { req, res }))
  }
  for (const platform of platforms) {
    const base = `/${platform.id}`
    router.post(`${base}/submit/:action`, (req, res) =>
      submitMusicTask(services, { platform, action: req.params.action }, { req, res }),
    )
    router.get(`${base}/fetch/:id`, (req, res) =>
      fetchMusicTask(services, { platform, id: req.params.id }, { req, res }),
    )
    router.post(`${base}/fetch`, (req, res) => fetchMusicTasks(services, platform, { req, res }))
  }
}
