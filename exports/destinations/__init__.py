"""Where exports go: the protocol every destination speaks, the delivery in its fixed order, and two of them.

`protocol.open_session` connects; `delivery.deliver` uploads once, publishes once and says what is known. This
package is the only place that imports paramiko, and it does so only when an SFTP session is opened.
"""
