import { useMemo } from 'react'
import type { z } from 'zod'
import { FormDrawer } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { refetchFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { useFilled } from '../../lib/use-filled.ts'
import { TokenFields } from './fields.tsx'
import { newToken, tokenForm, type TokenValues, valuesOf } from './form-schema.ts'
import type { OpenToken } from './use-open-token.ts'

type Filled = {
  values: TokenValues
  /** May be below zero, which the form does not show. */
  quota: number
}

/** Makes tokens, or changes one. */
export function TokenForm({ open }: { open: OpenToken }) {
  const { edited } = open
  const isNew = edited === 0
  const wanted = trpc.user.tokens.get.useQuery({ id: edited ?? 0 }, { enabled: (edited ?? 0) > 0, staleTime: 0 })
  const token = wanted.data
  const known = trpc.user.spendCaps.list.useQuery(undefined, { enabled: (edited ?? 0) > 0, staleTime: 0 })
  const caps = useMemo(
    () =>
      known.isFetching ? undefined : known.data?.filter((cap) => cap.scope === 'token' && cap.subjectId === edited),
    [known.data, known.isFetching, edited],
  )
  const standings = (known.data ?? []).filter((cap) => cap.scope === 'token' && cap.subjectId === edited)
  const schema = useMemo(() => tokenForm(token?.expiresAt ?? null), [token])
  const form = useZodForm({ schema, values: newToken })
  const opened = wanted.isFetching
    ? undefined
    : token && caps && { values: valuesOf(token, caps), quota: token.remainQuota }
  const filled = useFilled(
    ({ values }: Filled, options) => form.reset(values, options),
    edited,
    isNew ? { values: newToken, quota: 0 } : opened,
  )
  const failed = (token ? null : wanted.error) ?? (caps ? null : known.error)

  const utils = trpc.useUtils()
  const create = trpc.user.tokens.createMany.useMutation()
  const update = trpc.user.tokens.update.useMutation()
  const save = async ({ count, remainQuota, ...fields }: z.output<ReturnType<typeof tokenForm>>) => {
    if (token) {
      const knownQuota = filled?.quota ?? token.remainQuota
      // What calls take while the form is open is not given back by saving it.
      const quota = remainQuota === Math.max(0, knownQuota) ? {} : { remainQuota, knownQuota }
      const { count: _, remainQuota: __, ...expected } = filled?.values ?? newToken
      await update.mutateAsync({ ...fields, id: token.id, ...quota, expected })
      notify.success(t('保存成功'))
    } else {
      const made = await create.mutateAsync({ ...fields, remainQuota, count })
      open.show(made)
    }
    void utils.user.tokens.invalidate()
    void utils.user.spendCaps.invalidate()
  }

  return (
    <FormDrawer
      open={edited !== undefined}
      onClose={open.closeForm}
      title={isNew ? t('新建令牌') : t('编辑令牌')}
      form={form}
      onSubmit={save}
      submitLabel={isNew ? t('创建') : t('保存')}
      loading={edited !== undefined && !isNew && filled === undefined && !failed}
      unavailable={!isNew && failed !== null}
    >
      {failed && !isNew ? (
        <ErrorState error={failed} onRetry={() => refetchFailed(wanted, known)} />
      ) : (
        <TokenFields isNew={isNew} standings={standings} />
      )}
    </FormDrawer>
  )
}
