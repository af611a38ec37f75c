"""The operator console's pages, and the groups of the people who use them.

The site (site.py) adds the pages itself when it is made: Django makes it while this package is being imported.
"""

from django.db.models.signals import post_migrate

from exports.groups import make_groups

post_migrate.connect(make_groups, dispatch_uid="exports.groups")
