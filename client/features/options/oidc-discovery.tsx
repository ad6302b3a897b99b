import { Button } from '@chakra-ui/react'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { useSettings } from './settings-form.ts'
import { nameOf } from './values.ts'

/** Fills in the three endpoints from the provider's own description of itself. */
export function OidcDiscovery() {
  const { form } = useSettings()
  const discovery = trpc.admin.options.discoverOidc.useMutation({ trpc: { context: { alone: true } } })
  const fetchEndpoints = async () => {
    const address = String(form.getValues(nameOf('oidc.well_known')))
    if (!/^https?:\/\//.test(address)) return notify.error(t('Well-Known URL 必须以 http:// 或 https:// 开头'))
    try {
      // The server reads it, as it does when somebody signs in: a page may not read every address.
      const found = await discovery.mutateAsync({ address })
      form.setValue(nameOf('oidc.authorization_endpoint'), found.authorizationEndpoint)
      form.setValue(nameOf('oidc.token_endpoint'), found.tokenEndpoint)
      form.setValue(nameOf('oidc.user_info_endpoint'), found.userInfoEndpoint)
      notify.success(t('已获取 OIDC 配置，保存后生效'))
    } catch (error) {
      notify.error(error)
    }
  }
  return (
    <Button size="2xs" loading={discovery.isPending} onClick={() => void fetchEndpoints()}>
      {t('获取端点')}
    </Button>
  )
}
